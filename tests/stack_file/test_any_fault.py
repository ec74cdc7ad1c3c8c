"""Any content of a stack file gives settings or a list of faults, and never an exception."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stack_file import stacks
from tests.tables import OUT

pytestmark = pytest.mark.pure

Step = str | int
Place = tuple[Step, ...]

SPECIMENS = (stacks.STAGING, stacks.PRODUCTION, "examples/eks-arc.yaml", "examples/cirun-aws.yaml")
UNKNOWN = "zz-unknown"
REPORTS_MISSING = re.compile(r": missing|is not in|there is no autoscaler|: not enabled")


def places(value: Any, above: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield every path in some sections, with its value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inside in inner:
        yield (*above, step), inside
        yield from places(inside, (*above, step))


def path_of(place: Place) -> str:
    """Return a path as faults spell it."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)[1:]


PLACES = [(name, place) for name in SPECIMENS for place, _ in places(stacks.sections(name))]
MAPS = [
    (name, place) for name in SPECIMENS for place, value in places(stacks.sections(name)) if isinstance(value, dict)
]
STRANGE = (
    f"{'9' * 400}GB",
    f"{'1' * 400}Gi",
    f"10.0.0.0/{'9' * 5000}",
    "10.0.0.0/33",
    "::/0",
    "99.99",
    "x" * 10_000,
    "[/]",
    "{0}",
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=12)
    | st.sampled_from(STRANGE),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=6,
)


def changed(name: str, place: Place, value: Any) -> dict[str, Any]:
    found = stacks.sections(name)
    stacks.change(found, place, value)
    return found


def test_an_unknown_key_is_reported_at_its_path() -> None:
    """In a map of entries it is an entry that is invalid."""
    reported = {
        (name, path_of((*place, UNKNOWN))): stacks.faults(changed(name, (*place, UNKNOWN), {"a": 1}))
        for name, place in MAPS
    }

    assert {
        (name, path): faults
        for (name, path), faults in reported.items()
        if not faults or not all(fault.startswith((f"{path}:", f"{path}.")) for fault in faults)
    } == {}


def test_most_maps_are_closed() -> None:
    reported = [stacks.faults(changed(name, (*place, UNKNOWN), 1)) for name, place in MAPS]
    closed = [faults for faults in reported if len(faults) == 1 and ": unknown key; " in faults[0]]

    assert len(closed) > len(MAPS) / 2


@pytest.mark.parametrize("name", SPECIMENS)
def test_a_stack_without_a_section_is_valid_or_reports_the_missing_section(name: str) -> None:
    for section in stacks.sections(name):
        faults = stacks.faults(changed(name, (section,), OUT))

        assert [fault for fault in faults if not REPORTS_MISSING.search(fault)] == []


@given(st.sampled_from(SPECIMENS), st.data())
@settings(max_examples=60)
def test_any_subset_of_sections_is_valid_or_rejected(name: str, data: st.DataObject) -> None:
    kept = data.draw(st.sets(st.sampled_from(sorted(stacks.sections(name)))))
    faults = stacks.faults({section: value for section, value in stacks.sections(name).items() if section in kept})

    assert ("stack: missing; state stack" in faults) == ("stack" not in kept)


@given(st.sampled_from(PLACES), JSON)
@settings(max_examples=150)
def test_any_value_at_any_path_is_valid_or_rejected(where: tuple[str, Place], value: Any) -> None:
    faults = stacks.faults(changed(*where, value))

    assert all(fault.isprintable() and ": " in fault and "; " in fault for fault in faults)


@pytest.mark.parametrize("path", ["gpu-pools/t4-spot/disk/size", "network/cidr", "images/runner-gpu/compressed"])
def test_a_strange_text_is_one_short_fault(path: str) -> None:
    reported = {value[:12]: stacks.faults(stacks.sections(changes={path: value})) for value in STRANGE}

    assert {
        value: faults
        for value, faults in reported.items()
        if path.replace("/", ".") not in {fault.partition(": ")[0] for fault in faults}
        or any(len(fault) >= 1500 for fault in faults)
    } == {}


@given(st.sampled_from(SPECIMENS), st.data())
@settings(max_examples=60)
def test_any_values_at_three_paths_are_valid_or_rejected(name: str, data: st.DataObject) -> None:
    raw = stacks.sections(name)
    for _ in range(3):
        place = data.draw(st.sampled_from([place for place, _ in places(raw)]))
        stacks.change(raw, place, data.draw(JSON))

    stacks.faults(raw)


@given(st.dictionaries(st.sampled_from([*stacks.sections(), "quotas", "budget", "cirun", "host-image", "gcp"]), JSON))
@settings(max_examples=60)
def test_sections_of_any_content_are_valid_or_rejected(raw: dict[str, Any]) -> None:
    stacks.faults(raw)


@given(st.sampled_from(PLACES), JSON)
@settings(max_examples=60)
def test_validation_does_not_change_its_input(where: tuple[str, Place], value: Any) -> None:
    raw = changed(*where, value)
    before = copy.deepcopy(raw)

    stacks.faults(raw)

    assert raw == before
