"""A change to rehearse: chosen from what the stack file itself states, whatever that is.

Owns the candidates, in the order in which they are tried. Whether one is allowed is the program's to say, so that each
is tried by recording its plan.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import pulumi

from config.identity import PROJECT
from ops.plan import recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ops.plan.model import Plan, Planned
    from ops.plan.stack_file import StackFile

_TRIES: Final = 12
"""Recording a plan takes a moment; a stack file may be large."""


_STACK: Final = f"{PROJECT}:stack"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A stack file that differs from another in one place."""

    said: str
    """What is different, with its path."""
    stack_file: StackFile
    plan: Plan
    """What it leads to."""
    created: frozenset[str]
    """The URNs that only the new plan has."""
    updated: frozenset[str]
    """The URNs that both have, with something else in them."""
    deleted: frozenset[str]
    """The URNs that only the old plan has."""

    @property
    def touched(self) -> frozenset[str]:
        """Everything that may change."""
        return self.created | self.updated | self.deleted


def one_more(stack_file: StackFile, plan: Plan, program: Callable[[], None] | None = None) -> Change | None:
    """A value that is another: a `max` one higher or lower, or else one more tag. None where nothing can be changed."""
    return _first(_values(stack_file), stack_file, plan, program, lambda change: bool(change.updated))


def one_added(stack_file: StackFile, plan: Plan, program: Callable[[], None] | None = None) -> Change | None:
    """One more of something there are several of, such as a pool or a repository. None where there is nothing such."""
    return _first(_elements(stack_file), stack_file, plan, program, lambda change: bool(change.created))


def _first(
    candidates: Iterator[tuple[str, StackFile]],
    stack_file: StackFile,
    plan: Plan,
    program: Callable[[], None] | None,
    wanted: Callable[[Change], bool],
) -> Change | None:
    for _, (said, candidate) in zip(range(_TRIES), candidates, strict=False):
        try:
            after = recorder.record(candidate, program=program)
        except pulumi.RunError:
            # The program refuses it, and has its reasons.
            continue
        change = _change(said, replace(candidate, name=stack_file.name), plan, after)
        if wanted(change):
            return change
    return None


def _change(said: str, stack_file: StackFile, before: Plan, after: Plan) -> Change:
    old = {resource.urn: resource for resource in before}
    new = {resource.urn: resource for resource in after}
    return Change(
        said=said,
        stack_file=stack_file,
        plan=after,
        created=frozenset(new.keys() - old.keys()),
        updated=frozenset(urn for urn in new.keys() & old.keys() if not _same(old[urn], new[urn])),
        deleted=frozenset(old.keys() - new.keys()),
    )


def _same(old: Planned, new: Planned) -> bool:
    """Whether nothing is to be done: order and options alone are written down without a step."""
    return bool(_regarded(old) == _regarded(new))


def _regarded(resource: Planned) -> Any:
    """The inputs but for those whose changes are not taken up."""
    inputs: Any = dict(resource.inputs)
    for path in resource.ignore_changes:
        inputs = _without(inputs, path.split("."))
    return inputs


def _without(value: Any, path: list[str]) -> Any:
    if not isinstance(value, dict) or path[0] not in value:
        return value
    rest = {key: item for key, item in value.items() if key != path[0]}
    return {**rest, path[0]: _without(value[path[0]], path[1:])} if path[1:] else rest


def _sections(stack_file: StackFile) -> Iterator[tuple[str, dict[str, Any]]]:
    for key, text in sorted(stack_file.config.items()):
        if key.startswith(f"{PROJECT}:") and key not in stack_file.secret_keys and text.startswith("{"):
            yield key, json.loads(text)


def _values(stack_file: StackFile) -> Iterator[tuple[str, StackFile]]:
    for key, section in _sections(stack_file):
        for path, holder in _holders(section, key.removeprefix(f"{PROJECT}:")):
            value = holder.get("max")
            if isinstance(value, int) and not isinstance(value, bool):
                for other in (value + 1, value - 1):
                    holder["max"] = other
                    yield f"{path}.max from {value} to {other}", _with(stack_file, key, section)
                holder["max"] = value
    for key, section in _sections(stack_file):
        if key == _STACK or "tags" in section:
            tags = {**section.get("tags", {}), "Rehearsed": "yes"}
            yield (
                f"{key.removeprefix(f'{PROJECT}:')}.tags with one more",
                _with(stack_file, key, {**section, "tags": tags}),
            )


def _elements(stack_file: StackFile) -> Iterator[tuple[str, StackFile]]:
    for key, section in _sections(stack_file):
        if section and all(isinstance(value, dict) for value in section.values()):
            last = list(section)[-1]
            name = f"{last}-too"
            said = f"{key.removeprefix(f'{PROJECT}:')}.{name}, like {last}"
            yield said, _with(stack_file, key, {**section, name: section[last]})


def _holders(value: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every map in a section, with its path."""
    if isinstance(value, dict):
        yield path, value
        for key, item in value.items():
            yield from _holders(item, f"{path}.{key}")


def _with(stack_file: StackFile, key: str, section: Mapping[str, Any]) -> StackFile:
    text = json.dumps(section, sort_keys=True, separators=(",", ":"))
    return replace(stack_file, config={**stack_file.config, key: text})
