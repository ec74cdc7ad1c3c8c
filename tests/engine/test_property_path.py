"""Paths of properties."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.engine.property_path import parts, value_at
from ops.fakes.aws import names as aws
from ops.fakes.protocol.difference import ChangeKind, changes
from ops.fakes.tables import kind_of

pytestmark = pytest.mark.pure

INPUTS: Final = {
    "taints": [{"effect": "NoSchedule"}],
    "tags": {"a.b": "one", 'c"d': "two"},
    "text": "a mark",
    "no": None,
}
KEYS: Final = st.text('ab.-[]"0', max_size=3)
VALUES: Final = st.recursive(
    st.integers(0, 9), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("name", ("name",)),
        ("taints[0].effect", ("taints", 0, "effect")),
        ('tags["a.b"]', ("tags", "a.b")),
        ('tags["c\\"d"][12]', ("tags", 'c"d', 12)),
    ],
)
def test_a_path_has_names_and_positions(path: str, expected: tuple[str | int, ...]) -> None:
    assert parts(path) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("taints[0].effect", "NoSchedule"),
        ("taints[1].effect", "missing"),
        ("taints.effect", "missing"),
        ('tags["a.b"]', "one"),
        ('tags["c\\"d"]', "two"),
        ("tags[0]", "missing"),
        ("no", None),
        ("no.more", "missing"),
        ("text.inside", "a mark"),
        ('tags["a.b"].inside', "missing"),
    ],
)
def test_a_value_is_found_by_its_path(path: str, expected: object) -> None:
    assert value_at(path, INPUTS, marks=["a mark"], missing="missing") == expected


@given(VALUES, VALUES)
def test_every_path_of_a_difference_leads_to_its_values(old: Any, new: Any) -> None:
    for change in changes(kind_of(aws.KEY), {"key": old}, {"key": new}):
        before, after = (value_at(change.path, {"key": value}, missing=None) for value in (old, new))
        assert (before is None, after is None) == (change.kind is ChangeKind.ADD, change.kind is ChangeKind.DELETE)
        assert before != after


@given(VALUES, VALUES)
def test_equal_values_have_no_difference(old: Any, new: Any) -> None:
    assert (changes(kind_of(aws.KEY), {"key": old}, {"key": new}) == []) == (old == new)
