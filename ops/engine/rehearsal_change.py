"""A change of a stack file for a rehearsal.

Candidates are derived from the stack file and tried in order by recording their plans: the program may refuse one.
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
"""The largest number of candidates that are recorded."""


_STACK: Final = f"{PROJECT}:stack"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A stack file that differs from another one in one place."""

    summary: str
    """The path and the change."""
    stack_file: StackFile
    plan: Plan
    """The plan of the changed stack file."""
    created: frozenset[str]
    """The URNs that only the new plan contains."""
    updated: frozenset[str]
    """The URNs in both plans with different inputs."""
    deleted: frozenset[str]
    """The URNs that only the old plan contains."""

    @property
    def touched(self) -> frozenset[str]:
        """The URNs of all changes."""
        return self.created | self.updated | self.deleted


def changed_value(stack_file: StackFile, plan: Plan, program: Callable[[], None] | None = None) -> Change | None:
    """Return a change of one value: a `max` plus or minus one, or an additional tag; None if there is none."""
    return _first(_values(stack_file), stack_file, plan, program, lambda change: bool(change.updated))


def added_element(stack_file: StackFile, plan: Plan, program: Callable[[], None] | None = None) -> Change | None:
    """Return an additional element of a map, such as a pool or a repository; None if there is none."""
    return _first(_elements(stack_file), stack_file, plan, program, lambda change: bool(change.created))


def _first(
    candidates: Iterator[tuple[str, StackFile]],
    stack_file: StackFile,
    plan: Plan,
    program: Callable[[], None] | None,
    wanted: Callable[[Change], bool],
) -> Change | None:
    for _, (summary, candidate) in zip(range(_TRIES), candidates, strict=False):
        try:
            after = recorder.record(candidate, program=program)
        except pulumi.RunError:
            # The program refuses this candidate.
            continue
        change = _change(summary, replace(candidate, name=stack_file.name), plan, after)
        if wanted(change):
            return change
    return None


def _change(summary: str, stack_file: StackFile, before: Plan, after: Plan) -> Change:
    old = {resource.urn: resource for resource in before}
    new = {resource.urn: resource for resource in after}
    return Change(
        summary=summary,
        stack_file=stack_file,
        plan=after,
        created=frozenset(new.keys() - old.keys()),
        updated=frozenset(urn for urn in new.keys() & old.keys() if not _same(old[urn], new[urn])),
        deleted=frozenset(old.keys() - new.keys()),
    )


def _same(old: Planned, new: Planned) -> bool:
    """Return whether the engine has nothing to do: changed options alone cause no step."""
    return bool(_compared(old) == _compared(new))


def _compared(resource: Planned) -> Any:
    """Return the inputs without the ignored ones."""
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
                f"{key.removeprefix(f'{PROJECT}:')}.tags with one more tag",
                _with(stack_file, key, {**section, "tags": tags}),
            )


def _elements(stack_file: StackFile) -> Iterator[tuple[str, StackFile]]:
    for key, section in _sections(stack_file):
        if section and all(isinstance(value, dict) for value in section.values()):
            last = list(section)[-1]
            name = f"{last}-too"
            summary = f"{key.removeprefix(f'{PROJECT}:')}.{name}, like {last}"
            yield summary, _with(stack_file, key, {**section, name: section[last]})


def _holders(value: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every map in a section with its path."""
    if isinstance(value, dict):
        yield path, value
        for key, item in value.items():
            yield from _holders(item, f"{path}.{key}")


def _with(stack_file: StackFile, key: str, section: Mapping[str, Any]) -> StackFile:
    text = json.dumps(section, sort_keys=True, separators=(",", ":"))
    return replace(stack_file, config={**stack_file.config, key: text})
