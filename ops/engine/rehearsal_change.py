"""A change of a stack file for a rehearsal.

Candidates are derived from the stack file and tried in order by recording their plans: the program may refuse one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import pulumi

from gpu_ci.stack_file.identity import PROJECT
from ops.plan import recorder
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
        updated=frozenset(urn for urn in new.keys() & old.keys() if _compared(old[urn]) != _compared(new[urn])),
        deleted=frozenset(old.keys() - new.keys()),
    )


def _compared(resource: Planned) -> dict[str, Any]:
    """Return the inputs whose changes count."""
    return {name: value for name, value in resource.inputs.items() if name not in resource.ignore_changes}


def _sections(stack_file: StackFile) -> Iterator[tuple[str, dict[str, Any]]]:
    for key, text in sorted(stack_file.config.items()):
        if key.startswith(f"{PROJECT}:") and key not in stack_file.secret_keys and text.startswith("{"):
            yield key, json.loads(text)


def _values(stack_file: StackFile) -> Iterator[tuple[str, StackFile]]:
    for key, section in _sections(stack_file):
        for name, element in section.items():
            if isinstance(element, dict) and isinstance(element.get("max"), int):
                most = element["max"]
                for other in (most + 1, most - 1):
                    summary = f"{_short(key)}.{name}.max from {most} to {other}"
                    yield summary, _with(stack_file, key, {**section, name: {**element, "max": other}})
    for key, section in _sections(stack_file):
        if key == _STACK or "tags" in section:
            tags = {**section.get("tags", {}), "Rehearsed": "yes"}
            yield f"{_short(key)}.tags with one more tag", _with(stack_file, key, {**section, "tags": tags})


def _elements(stack_file: StackFile) -> Iterator[tuple[str, StackFile]]:
    for key, section in _sections(stack_file):
        if section and all(isinstance(value, dict) for value in section.values()):
            last = list(section)[-1]
            name = f"{last}-too"
            summary = f"{_short(key)}.{name}, like {last}"
            yield summary, _with(stack_file, key, {**section, name: section[last]})


def _short(key: str) -> str:
    return key.removeprefix(f"{PROJECT}:")


def _with(stack_file: StackFile, key: str, section: Mapping[str, Any]) -> StackFile:
    text = json.dumps(section, sort_keys=True, separators=(",", ":"))
    return replace(stack_file, config={**stack_file.config, key: text})
