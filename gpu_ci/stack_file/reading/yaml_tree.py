"""The tree of a YAML file: every value with its text, line and column.

The tree is built from the parser's events, so that each limit applies before memory is used, and so that one run
reports every problem. A file has maps with scalar keys, lists and scalars. Tags of other types are refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, TypeAlias

import yaml

from gpu_ci.stack_file.reading.yaml_problems import Problem, YamlError, syntax

_DEPTH: Final = 64
"""The deepest nesting."""
_SIZE: Final = 50_000
"""The largest number of values. A value counts once for each alias that repeats it."""


class NotAllowed(ValueError):
    """A scalar that the file must not contain, with the problem and the fix."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.fix = fix


Scalar: TypeAlias = Callable[[str, str], object]
"""Return the value of a text without quotes; the second argument is the name of its tag, or an empty text."""


@dataclass(slots=True, kw_only=True)
class Node:
    """A value of the file."""

    value: Any
    """A scalar, a dict of nodes or a list of nodes."""
    line: int
    column: int
    text: str = ""
    """The text of a scalar without quotes, as typed."""
    keys: dict[str, Node] = field(default_factory=dict)
    """The keys of a map, each as a node with its place."""

    def plain(self) -> Any:
        """Return the value as scalars, dicts and lists."""
        if isinstance(self.value, dict):
            return {key: inner.plain() for key, inner in self.value.items()}
        if isinstance(self.value, list):
            return [inner.plain() for inner in self.value]
        return self.value


def tree(text: str, scalar: Scalar) -> Node | None:
    """Return the only document in `text`, or None if it has none. `scalar` resolves texts without quotes.

    Raises:
        YamlError: with every problem; after an error of syntax, nothing more is read.

    """
    reader, root = _Reader(text, scalar), None
    try:
        root = reader.document()
    except yaml.MarkedYAMLError as error:
        reader.problems.append(syntax(error, text))
    except _Stopped:
        pass
    if reader.problems:
        raise YamlError(*reader.problems)
    return root


class _Stopped(Exception):
    """The rest of the file is not read."""


class _Reader:
    """The part of the file that has been read, and the events of the rest."""

    def __init__(self, text: str, scalar: Scalar) -> None:
        self.problems: list[Problem] = []
        self._events: Iterator[Any] = iter(yaml.parse(text, Loader=yaml.CSafeLoader))
        self._resolve = scalar
        self._anchors: dict[str, tuple[Node, int] | None] = {}
        """The value of each anchor and its size; None inside of the value."""
        self._size = 0
        self._in_key = False

    def document(self) -> Node | None:
        """Return the value of the only document, if there is one."""
        root = None
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent) and root is not None:
                self._stop(event, "a second document begins", "Keep one document in a file")
            if isinstance(event, yaml.NodeEvent):
                root = self._node(event)
        return root

    def _node(self, event: Any, depth: int = 0, *, is_key: bool = False) -> Node:
        """Return the value that starts with `event`, at a depth of nesting."""
        if isinstance(event, yaml.AliasEvent):
            return self._repeated(event)
        before = self._size
        self._count(event, 1)
        if event.anchor:
            self._anchors[event.anchor] = None
        if isinstance(event, yaml.ScalarEvent):
            node = self._scalar(event, is_key=is_key)
        elif depth >= _DEPTH:
            self._stop(event, f"maps and lists are nested more than {_DEPTH} deep", "Remove what is no setting")
        elif isinstance(event, yaml.SequenceStartEvent):
            self._tag(event, "seq")
            node = _at(event, [self._node(inner, depth + 1) for inner in self._inside()])
        else:
            self._tag(event, "map")
            node = self._map(event, depth + 1)
        if event.anchor:
            self._anchors[event.anchor] = node, self._size - before
        return node

    def _repeated(self, event: Any) -> Node:
        """Return the value that an alias repeats."""
        found = self._anchors.get(event.anchor)
        if found is None:
            inside = event.anchor in self._anchors
            problem = "is inside of its own anchor" if inside else f"has no anchor &{event.anchor} before it"
            self._stop(event, f"the alias *{event.anchor} {problem}", "Write the value instead")
        node, size = found
        self._count(event, size)
        return node

    def _scalar(self, event: Any, *, is_key: bool) -> Node:
        """Return a scalar with its value; a key and a text in quotes are texts."""
        tag = self._tag(event, "str", "int", "float", "bool", "null")
        is_plain = tag != "str" and bool(tag or not event.style)
        node = _at(event, event.value, text=event.value if is_plain else "")
        if is_plain and not is_key:
            try:
                node.value = self._resolve(event.value, tag)
            except NotAllowed as error:
                self._report(event, error.problem, error.fix)
        return node

    def _map(self, event: Any, depth: int) -> Node:
        node, merged = _at(event, {}), dict[str, Node]()
        for start in self._inside():
            key = self._key(start, depth, node.keys)
            value = self._node(next(self._events), depth)
            if key.text == "<<":
                merged = self._merged(value) | merged
            elif isinstance(key.value, str):
                node.keys[key.value] = key
                node.value[key.value] = value
        node.value = merged | node.value
        return node

    def _key(self, event: Any, depth: int, others: Mapping[str, Node]) -> Node:
        """Return a key. In a map or a list that is a key, only other problems are reported."""
        outer = self._in_key
        if isinstance(event, yaml.CollectionStartEvent):
            if not outer:
                kind = "a map" if isinstance(event, yaml.MappingStartEvent) else "a list"
                fix = "Write a text; replace a template such as {{ name }} with its value, or put it in quotes"
                self._report(event, f"{kind} cannot be a key", fix)
            self._in_key = True
        key = self._node(event, depth, is_key=True)
        self._in_key = outer
        if isinstance(event, yaml.AliasEvent) and not isinstance(key.value, str):
            self._report(event, "an alias cannot be a key", "Write the key")
        elif isinstance(key.value, str) and key.value in others:
            first = others[key.value].line
            self._report(event, f"`{key.value}` is a duplicate key (first on line {first})", "Remove one of the two")
        return key

    def _merged(self, node: Node) -> dict[str, Node]:
        """Return the keys that `<<` merges, of a map or of each map of a list. Earlier maps have priority."""
        maps = node.value if isinstance(node.value, list) else [node]
        if all(isinstance(one.value, dict) for one in maps):
            return {key: value for one in reversed(maps) for key, value in one.value.items()}
        self._report(node, "`<<` merges maps only", "Write an alias of a map")
        return {}

    def _inside(self) -> Iterator[Any]:
        """Yield the first event of each value up to the end of the innermost open map or list."""
        return itertools.takewhile(lambda event: not isinstance(event, yaml.CollectionEndEvent), self._events)

    def _count(self, event: Any, size: int) -> None:
        self._size += size
        if self._size > _SIZE:
            self._stop(event, f"the file has more than {_SIZE} values, with those that aliases repeat", "Shorten it")

    def _tag(self, event: Any, *allowed: str) -> str:
        """Return the name of the explicit tag of a value, if any."""
        tag = "str" if event.tag == "!" else (event.tag or "").removeprefix("tag:yaml.org,2002:")
        if tag and tag not in allowed:
            shown = tag if tag == event.tag else f"!!{tag}"
            self._report(event, f"the tag {shown} is not allowed here", "Remove the tag, and write plain text")
            return "str"
        return tag

    def _report(self, event: Any, problem: str, fix: str) -> None:
        place = event if isinstance(event, Node) else _at(event)
        self.problems.append(Problem(line=place.line, column=place.column, problem=problem, fix=fix))

    def _stop(self, event: Any, problem: str, fix: str) -> NoReturn:
        self._report(event, problem, fix)
        raise _Stopped


def _at(event: Any, value: Any = None, text: str = "") -> Node:
    """Return a value at the place of an event."""
    return Node(value=value, line=event.start_mark.line + 1, column=event.start_mark.column + 1, text=text)


def scalars(node: Node, path: str = "") -> Mapping[str, Node]:
    """Return every scalar below a node by its path, as in `a.b[0]`."""
    if isinstance(node.value, dict):
        inside = {f"{path}.{key}" if path else key: inner for key, inner in node.value.items()}
    elif isinstance(node.value, list):
        inside = {f"{path}[{position}]": inner for position, inner in enumerate(node.value)}
    else:
        return {path: node}
    return {where: one for part, inner in inside.items() for where, one in scalars(inner, part).items()}
