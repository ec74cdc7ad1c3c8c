"""The tree of a YAML file: every value with its text, line and column.

The tree is built from the parser's events, so that each limit applies before memory is used, and so that one run
reports every problem. A file has maps with scalar keys, lists and scalars. Tags of other types are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, cast

import yaml

from gpu_ci.stack_file.reading.yaml_problems import Problem, YamlError, at_start, syntax

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
    size: int = 1
    """The number of values that it consists of."""
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
    builder = _Builder(scalar)
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            builder.add(event)
    except yaml.MarkedYAMLError as error:
        builder.problems.append(syntax(error, text))
    except yaml.YAMLError as error:
        builder.problems.append(at_start(f"not YAML ({error})", "Save the file in UTF-8"))
    except _Stopped:
        pass
    if builder.problems:
        raise YamlError(*builder.problems)
    return builder.root


class _Stopped(Exception):
    """The rest of the file is not read."""


@dataclass(slots=True, kw_only=True)
class _Open:
    """A map or a list that has not ended."""

    node: Node
    anchor: str | None
    is_map: bool
    is_key: bool
    """Whether it is in the place of a key, or inside of such a map or list."""
    key: Node | None = None
    """The key whose value is next."""
    merged: list[Node] = field(default_factory=list)
    """The maps that `<<` merges into it."""


class _Builder:
    """The part of the tree that has been read."""

    def __init__(self, scalar: Scalar) -> None:
        self.root: Node | None = None
        self.problems: list[Problem] = []
        self._scalar = scalar
        self._open: list[_Open] = []
        self._anchors: dict[str, Node | None] = {}
        self._size = 0

    def add(self, event: yaml.Event) -> None:
        """Add what one event of the parser begins, ends or is."""
        if isinstance(event, yaml.DocumentStartEvent) and self.root is not None:
            self._report(event, "a second document begins", "Keep one document in a file")
            raise _Stopped
        if isinstance(event, yaml.ScalarEvent):
            self._place(self._resolved(event), event)
        elif isinstance(event, yaml.AliasEvent):
            self._place(self._repeated(event), event)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._begin(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end()

    def _report(self, event: yaml.Event, problem: str, fix: str) -> None:
        line, column = _position(event)
        self.problems.append(Problem(line=line, column=column, problem=problem, fix=fix))

    def _node(self, event: yaml.Event, value: Any, text: str = "") -> Node:
        line, column = _position(event)
        return Node(value=value, line=line, column=column, text=text)

    def _resolved(self, event: yaml.ScalarEvent) -> Node:
        """Return a scalar with its value; a key and a text in quotes are texts."""
        tag = self._tag(event, "str", "int", "float", "bool", "null")
        node = self._node(event, event.value)
        if self._expects_key:
            node.text = "" if event.style else event.value
        elif tag != "str" and (tag or not event.style):
            node.text = event.value
            try:
                node.value = self._scalar(event.value, tag)
            except NotAllowed as error:
                self._report(event, error.problem, error.fix)
        if event.anchor:
            self._anchors[event.anchor] = node
        return node

    def _repeated(self, event: yaml.AliasEvent) -> Node:
        """Return the value that an alias repeats."""
        name = str(event.anchor)
        if name not in self._anchors:
            self._report(event, f"the alias *{name} has no anchor &{name} before it", "Write the value instead")
            raise _Stopped
        node = self._anchors[name]
        if node is None:
            self._report(event, f"the alias *{name} is inside of its own anchor", "Write the value instead")
            raise _Stopped
        return node

    def _begin(self, event: yaml.CollectionStartEvent) -> None:
        is_map = isinstance(event, yaml.MappingStartEvent)
        self._tag(event, "map" if is_map else "seq")
        if len(self._open) >= _DEPTH:
            self._report(event, f"maps and lists are nested more than {_DEPTH} deep", "Remove what is no setting")
            raise _Stopped
        inside = bool(self._open) and self._open[-1].is_key
        if self._expects_key and not inside:
            fix = "Write a text; replace a template such as {{ name }} with its value, or put it in quotes"
            self._report(event, f"{'a map' if is_map else 'a list'} cannot be a key", fix)
        node = self._node(event, {} if is_map else [])
        self._open.append(_Open(node=node, anchor=event.anchor, is_map=is_map, is_key=inside or self._expects_key))
        if event.anchor:
            self._anchors[event.anchor] = None

    def _end(self) -> None:
        done = self._open.pop()
        for merged in done.merged:
            done.node.value = {**merged.value, **done.node.value}
        if done.anchor:
            self._anchors[done.anchor] = done.node
        self._put(done.node)

    @property
    def _expects_key(self) -> bool:
        return bool(self._open) and self._open[-1].is_map and self._open[-1].key is None

    def _place(self, node: Node, event: yaml.Event) -> None:
        """Put a scalar or a repeated value into the tree, unless the tree becomes too large."""
        self._size += node.size
        if self._size > _SIZE:
            self._report(event, f"the file has more than {_SIZE} values, with those that aliases repeat", "Shorten it")
            raise _Stopped
        if self._expects_key:
            self._check_key(node, event)
        self._put(node)

    def _check_key(self, node: Node, event: yaml.Event) -> None:
        if not isinstance(node.value, str):
            self._report(event, "an alias cannot be a key", "Write the key")
        elif node.value in (keys := self._open[-1].node.keys):
            first = keys[node.value].line
            self._report(event, f"`{node.value}` is a duplicate key (first on line {first})", "Remove one of the two")

    def _put(self, node: Node) -> None:
        """Put a node below the innermost open map or list."""
        if not self._open:
            self.root = node
            return
        into = self._open[-1]
        into.node.size += node.size
        if not into.is_map:
            into.node.value.append(node)
        elif into.key is None:
            into.key = node
        else:
            key, into.key = into.key, None
            if key.text == "<<":
                self._merge(into, node)
            elif isinstance(key.value, str):
                into.node.keys[key.value] = key
                into.node.value[key.value] = node

    def _merge(self, into: _Open, node: Node) -> None:
        """Merge a map, or each map of a list. Keys of the map itself and of earlier maps have priority."""
        maps = node.value if isinstance(node.value, list) else [node]
        if all(isinstance(one.value, dict) for one in maps):
            into.merged += maps
            return
        self.problems.append(
            Problem(line=node.line, column=node.column, problem="`<<` merges maps only", fix="Write an alias of a map")
        )

    def _tag(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent, *allowed: str) -> str:
        """Return the name of the explicit tag of a value, if any."""
        tag = "str" if event.tag == "!" else (event.tag or "").removeprefix("tag:yaml.org,2002:")
        if tag and tag not in allowed:
            shown = tag if tag == event.tag else f"!!{tag}"
            self._report(event, f"the tag {shown} is not allowed here", "Remove the tag, and write plain text")
            return "str"
        return tag


def _position(event: yaml.Event) -> tuple[int, int]:
    mark = cast("yaml.Mark", event.start_mark)
    return mark.line + 1, mark.column + 1


def scalars(node: Node, path: str = "") -> Mapping[str, Node]:
    """Return every scalar below a node by its path, as in `a.b[0]`."""
    if isinstance(node.value, dict):
        inside = {f"{path}.{key}" if path else key: inner for key, inner in node.value.items()}
    elif isinstance(node.value, list):
        inside = {f"{path}[{position}]": inner for position, inner in enumerate(node.value)}
    else:
        return {path: node}
    return {where: one for part, inner in inside.items() for where, one in scalars(inner, part).items()}
