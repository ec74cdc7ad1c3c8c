"""Every field of the stack file has a domain: certainly wrong values are refused, and values at its edge are accepted."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pytest

from gpu_ci.back_ends.stack_file import GRAMMAR
from gpu_ci.back_ends.stack_file import Settings as StackSettings
from gpu_ci.stack_file.reading.schema import stack_schema
from gpu_ci.stack_file.reading.settle import settle
from gpu_ci.stack_file.rules.stated import MAPS, Stated
from gpu_ci.stack_file.sections.settings import SECRETS
from tests.mistakes.sound import verdicts
from tests.stack_file import stacks
from tests.stack_file.domains import ACCEPTED, CHECKED, ENTRIES, FULL, KEY, OTHERWISE, REFUSED
from tests.tables import OUT

pytestmark = pytest.mark.pure

SCHEMA: Final = stack_schema(StackSettings)
ITEMS: Final = "[]"
"""The last step of the path of a list, for its length and its order."""
WRONG: Final[Mapping[str, tuple[Any, ...]]] = {
    "boolean": ("", "yes", "true", 0, 1, None, []),
    "choice": ("", " ", "unknown", True, 0, None, []),
    "optional choice": ("", " ", "unknown", True, 0, []),
}
"""Refused values of fields with a closed type."""


def fields(schema: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path of each field, with `boolean`, `choice`, `optional choice` or `open`; `*` is any key and any item."""
    if "$ref" in schema:
        yield from fields(SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]], path)
    options = schema.get("anyOf", ())
    for option in options:
        for found, kind in fields(option, path):
            optional = kind == "choice" and found == path and {"type": "null"} in options
            yield found, "optional choice" if optional else kind
    for name, inner in schema.get("properties", {}).items():
        yield from fields(inner, f"{path}/{name}".removeprefix("/"))
    entries = [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")]
    for inner in (entry for entry in entries if isinstance(entry, dict)):
        yield f"{path}/{KEY}", "open"
        yield from fields(inner, f"{path}/*")
    if "items" in schema:
        yield f"{path}/{ITEMS}", "open"
        yield from fields(schema["items"], f"{path}/*")
    if "enum" in schema or "const" in schema:
        yield path, "choice"
    elif schema.get("type") == "boolean":
        yield path, "boolean"
    elif schema.get("type") in {"string", "integer", "number"}:
        yield path, "open"


FIELDS: Final = {
    path: kind
    for name, section in SCHEMA["properties"]["config"]["properties"].items()
    if name.startswith("gpu-ci:") and name != "gpu-ci:github-app-private-key"
    for path, kind in fields(section, name.removeprefix("gpu-ci:"))
}
CLOSED: Final = {path: kind for path, kind in FIELDS.items() if kind != "open"}


def matches(field: str, path: str) -> bool:
    """Return whether a path is one of a field."""
    steps, parts = field.removesuffix(f"/{ITEMS}").split("/"), path.split("/")
    return len(steps) == len(parts) and all(step in {"*", part} for step, part in zip(steps, parts, strict=True))


@functools.cache
def base(begins: tuple[str, ...]) -> str:
    """Return the sections of the full stack, with the changes for paths that begin so."""
    raw = stacks.sections(changes=copy.deepcopy(dict(FULL)))
    for place, value in (change for begin in begins for change in OTHERWISE[begin].items()):
        stacks.change(raw, place.split("/"), OUT if value is None else copy.deepcopy(value))
    return json.dumps(raw)


def stack_for(path: str) -> dict[str, Any]:
    """Return the sections of the full stack, with the changes that a path needs."""
    raw: dict[str, Any] = json.loads(base(tuple(begin for begin in OTHERWISE if path.startswith(begin))))
    return raw


def stated(path: str, value: Any) -> dict[str, Any]:
    """Return the sections with a value at a path."""
    raw, steps = stack_for(path), path.split("/")
    if steps[-1] == KEY:
        inside: Any = raw
        for step in steps[:-1]:
            inside = inside[step]
        inside[value] = copy.deepcopy(inside[ENTRIES.get(path, next(iter(inside)))])
    else:
        stacks.change(raw, steps, value)
    return raw


def related(fault: str, path: str) -> bool:
    """Return whether a fault is in the same section, and of a map in the same entry."""
    section, entry, *_ = *path.split("/"), ""
    place = f"{section}.{entry}" if section in MAPS and entry != KEY else section
    return fault.startswith(place)


def refused(path: str, values: Sequence[Any]) -> Iterator[tuple[Any, list[str]]]:
    """Yield each value at a path with its faults. The rules run once for values that leave the same valid parts."""
    before, broken = None, []
    for value in values:
        raw = stated(path, value)
        valid, invalid = settle(raw, StackSettings)
        if (now := (valid, Stated.of(raw, frozenset(SECRETS)))) != before:
            before, broken = now, GRAMMAR.broken(*now)
        yield value, [str(fault) for fault in (*invalid, *broken)]


def in_section(table: Mapping[str, Any], section: str) -> dict[str, Any]:
    """Return the rows of a table whose paths are in a section."""
    return {path: row for path, row in table.items() if path.partition("/")[0] == section}


def each_section(table: Mapping[str, Any]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("section", sorted({path.partition("/")[0] for path in table}))


def concrete(field: str) -> str:
    """Return a path of a field in the full stack."""

    def search(inside: Any, steps: Sequence[str], found: tuple[str, ...]) -> Iterator[str]:
        if len(steps) == 1 and steps[0] != "*":
            yield "/".join((*found, *steps))
        elif steps:
            entries = dict(enumerate(inside)) if isinstance(inside, list) else inside
            for key in entries if steps[0] == "*" else [key for key in entries if key == steps[0]]:
                yield from search(entries[key], steps[1:], (*found, str(key)))
        else:
            yield "/".join(found)

    bases = (stack_for(base) for base in ("", *OTHERWISE))
    return next(found for base in bases for found in search(base, field.split("/"), ()))


def test_the_full_stack_has_no_fault() -> None:
    assert {path: stacks.faults(stack_for(path)) for path in ("", *OTHERWISE)} == {
        path: [] for path in ("", *OTHERWISE)
    }


def test_every_field_has_a_refused_value() -> None:
    open_ = [field for field, kind in FIELDS.items() if kind == "open"]

    assert [field for field in open_ if not any(matches(field, path) for path in REFUSED)] == []


def test_every_path_of_the_tables_is_a_field() -> None:
    paths = [path for path in (*REFUSED, *ACCEPTED, *CHECKED) if not path.endswith("/disk")]

    assert [path for path in paths if not any(matches(field, path) for field in FIELDS)] == []


@each_section(REFUSED)
def test_a_wrong_value_is_refused(section: str) -> None:
    assert [
        (path, value, faults)
        for path, values in in_section(REFUSED, section).items()
        for value, faults in refused(path, values)
        if not any(related(fault, path) for fault in faults)
    ] == []


@each_section(CLOSED)
def test_a_closed_field_refuses_other_values(section: str) -> None:
    assert [
        (path, value)
        for path, kind in in_section(CLOSED, section).items()
        for value, faults in refused(concrete(path), WRONG[kind])
        if not faults
    ] == []


@each_section(ACCEPTED)
def test_a_value_at_the_limit_is_accepted(section: str) -> None:
    rows = [(path, value) for path, values in in_section(ACCEPTED, section).items() for value in values]

    assert [(*row, faults) for row in rows if (faults := stacks.faults(stated(*row)))] == []


def test_a_value_that_contradicts_the_facts_is_an_error() -> None:
    @functools.cache
    def errors(text: str) -> set[str]:
        return {
            str(verdict) for verdict in verdicts(settle(json.loads(text), StackSettings)[0]) if verdict.level == "error"
        }

    def offends(path: str, value: Any) -> bool:
        raw = stated(path, value)
        return bool(stacks.faults(raw)) or not errors(json.dumps(raw)) - errors(json.dumps(stack_for(path)))

    assert [(path, value) for path, values in CHECKED.items() for value in values if offends(path, value)] == []
