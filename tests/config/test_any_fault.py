"""Whatever stands in a stack file, the answer is a list of faults or settings, and never an error of the program."""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.config import stacks

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.pure

Step = str | int
Place = tuple[Step, ...]

SPECIMENS = (stacks.STAGING, stacks.PRODUCTION, "examples/eks-arc.yaml", "examples/cirun-aws.yaml")
UNKNOWN = "zz-unknown"
SAYS_WHAT_IS_MISSING = re.compile(r": missing|is not in|there is no autoscaler|: not enabled")


def places(value: Any, above: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every place of some sections, and what stands there."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inside in inner:
        yield (*above, step), inside
        yield from places(inside, (*above, step))


def told(place: Place) -> str:
    """A place as faults name it."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)[1:]


PLACES = [(name, place) for name in SPECIMENS for place, _ in places(stacks.sections(name))]
MAPS = [
    (name, place) for name in SPECIMENS for place, value in places(stacks.sections(name)) if isinstance(value, dict)
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=6,
)


def spoilt(name: str, place: Place, value: Any) -> dict[str, Any]:
    found = stacks.sections(name)
    stacks.change(found, place, value)
    return found


@pytest.mark.parametrize(("name", "place"), MAPS, ids=[f"{name}:{told(place)}" for name, place in MAPS])
def test_an_unknown_key_anywhere_is_named_by_its_path_and_hides_nothing(name: str, place: Place) -> None:
    """In a map of named things it is no key that could be known, but an entry that is none."""
    path = told((*place, UNKNOWN))
    faults = stacks.faults(spoilt(name, (*place, UNKNOWN), {"a": 1}))

    assert faults
    assert all(fault.startswith((f"{path}:", f"{path}.")) for fault in faults)


def test_most_maps_are_closed() -> None:
    told_of = [stacks.faults(spoilt(name, (*place, UNKNOWN), 1)) for name, place in MAPS]
    closed = [faults for faults in told_of if len(faults) == 1 and ": unknown key; " in faults[0]]

    assert len(closed) > len(MAPS) / 2


@pytest.mark.parametrize("name", SPECIMENS)
def test_a_stack_without_one_of_its_sections_is_sound_or_says_what_is_missing(name: str) -> None:
    for section in stacks.sections(name):
        faults = stacks.faults(spoilt(name, (section,), stacks.OUT))

        assert [fault for fault in faults if not SAYS_WHAT_IS_MISSING.search(fault)] == []


@given(st.sampled_from(SPECIMENS), st.data())
@settings(max_examples=60)
def test_a_stack_of_any_of_its_sections_is_sound_or_refused(name: str, data: st.DataObject) -> None:
    kept = data.draw(st.sets(st.sampled_from(sorted(stacks.sections(name)))))
    faults = stacks.faults({section: value for section, value in stacks.sections(name).items() if section in kept})

    assert ("stack: missing; state stack" in faults) == ("stack" not in kept)


@given(st.sampled_from(PLACES), JSON)
@settings(max_examples=150)
def test_any_value_at_any_place_is_taken_or_refused(where: tuple[str, Place], value: Any) -> None:
    faults = stacks.faults(spoilt(*where, value))

    assert all(fault.isprintable() and ": " in fault and "; " in fault for fault in faults)


@given(st.sampled_from(SPECIMENS), st.data())
@settings(max_examples=60)
def test_any_values_at_three_places_are_taken_or_refused(name: str, data: st.DataObject) -> None:
    raw = stacks.sections(name)
    for _ in range(3):
        place = data.draw(st.sampled_from([place for place, _ in places(raw)]))
        stacks.change(raw, place, data.draw(JSON))

    stacks.faults(raw)


@given(st.dictionaries(st.sampled_from([*stacks.sections(), "quotas", "budget", "cirun", "host-image", "gcp"]), JSON))
@settings(max_examples=60)
def test_sections_of_any_content_are_taken_or_refused(raw: dict[str, Any]) -> None:
    stacks.faults(raw)


@given(st.sampled_from(PLACES), JSON)
@settings(max_examples=60)
def test_what_is_read_stays_as_it_was_written(where: tuple[str, Place], value: Any) -> None:
    raw = spoilt(*where, value)
    before = copy.deepcopy(raw)

    stacks.faults(raw)

    assert raw == before
