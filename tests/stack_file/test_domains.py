"""Every field of the stack file has a domain: certainly wrong values are refused, and values at its edge are accepted."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Final

import pytest

from gpu_ci.back_ends.stack_file import Settings
from gpu_ci.back_ends.stack_file import Settings as StackSettings
from gpu_ci.stack_file.reading.schema import stack_schema
from gpu_ci.stack_file.reading.settle import settle
from gpu_ci.stack_file.rules.stated import MAPS
from tests.mistakes.sound import verdicts
from tests.stack_file import stacks
from tests.stack_file.domains import ACCEPTED, CHECKED, ENTRIES, FULL, KEY, OTHERWISE, REFUSED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

pytestmark = pytest.mark.pure

SCHEMA: Final = stack_schema(Settings)
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


def matches(field: str, path: str) -> bool:
    """Return whether a path is one of a field."""
    steps, parts = field.removesuffix(f"/{ITEMS}").split("/"), path.split("/")
    return len(steps) == len(parts) and all(step in {"*", part} for step, part in zip(steps, parts, strict=True))


def stack_for(path: str) -> dict[str, Any]:
    """Return the sections of the full stack, with the changes that a path needs."""
    raw = stacks.sections(changes=copy.deepcopy(dict(FULL)))
    for more in (more for begins, more in OTHERWISE.items() if path.startswith(begins)):
        for place, value in more.items():
            stacks.change(raw, place.split("/"), stacks.OUT if value is None else copy.deepcopy(value))
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


def cases(table: Mapping[str, Sequence[Any]]) -> list[Any]:
    return [
        pytest.param(path, value, id=f"{path}={value!r}"[:90]) for path, values in table.items() for value in values
    ]


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


@pytest.mark.parametrize("field", [field for field, kind in FIELDS.items() if kind == "open"])
def test_every_field_has_a_refused_value(field: str) -> None:
    assert [path for path in REFUSED if matches(field, path)] != []


@pytest.mark.parametrize("path", [*REFUSED, *ACCEPTED, *CHECKED])
def test_every_path_of_the_tables_is_a_field(path: str) -> None:
    assert any(matches(field, path) for field in FIELDS) or path.endswith("/disk")


@pytest.mark.parametrize(("path", "value"), cases(REFUSED))
def test_a_wrong_value_is_refused(path: str, value: Any) -> None:
    found = stacks.faults(stated(path, value))

    assert [fault for fault in found if related(fault, path)], found


@pytest.mark.parametrize(("field", "kind"), [(field, kind) for field, kind in FIELDS.items() if kind != "open"])
def test_a_closed_field_refuses_other_values(field: str, kind: str) -> None:
    path = concrete(field)

    assert [value for value in WRONG[kind] if not stacks.faults(stated(path, value))] == []


@pytest.mark.parametrize(("path", "value"), cases(ACCEPTED))
def test_a_value_at_the_edge_is_accepted(path: str, value: Any) -> None:
    assert stacks.faults(stated(path, value)) == []


@pytest.mark.parametrize(("path", "value"), cases(CHECKED))
def test_a_value_that_the_facts_refute_is_an_error(path: str, value: Any) -> None:
    def errors(raw: dict[str, Any]) -> set[str]:
        return {str(verdict) for verdict in verdicts(settle(raw, StackSettings)[0]) if verdict.level == "error"}

    raw = stated(path, value)

    assert stacks.faults(raw) == []
    assert errors(raw) - errors(stack_for(path))
