"""Differences of inputs: updates, replacements, and the order of a replacement."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ops.fakes.cloud.kinds import Kind
from ops.fakes.protocol.difference import ChangeKind, changes, deletes_first

pytestmark = pytest.mark.pure

GROUP = Kind(
    type="aws:eks/nodeGroup:NodeGroup",
    answer=lambda _: ("", {}),
    delete_first="nodeGroupName",
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab.", max_size=2), inner, max_size=3),
    max_leaves=8,
)
bags = st.dictionaries(st.sampled_from(["nodeGroupName", "tags", "subnetIds", "labels"]), values, max_size=4)


@given(bags)
@settings(max_examples=50)
def test_equal_inputs_have_no_changes(bag: dict[str, Any]) -> None:
    assert changes(GROUP, bag, bag) == []


@given(bags, bags)
@settings(max_examples=100)
def test_the_reverse_difference_has_the_opposite_changes(old: dict[str, Any], new: dict[str, Any]) -> None:
    forward, back = changes(GROUP, old, new), changes(GROUP, new, old)
    opposite = {
        ChangeKind.ADD: ChangeKind.DELETE,
        ChangeKind.DELETE: ChangeKind.ADD,
        ChangeKind.UPDATE: ChangeKind.UPDATE,
    }

    assert [(change.path, opposite[change.kind], change.replaces) for change in forward] == [
        (change.path, change.kind, change.replaces) for change in back
    ]


def test_a_change_below_a_replacing_path_replaces() -> None:
    found = changes(
        GROUP, {"launchTemplate": {"id": "a", "version": "1"}}, {"launchTemplate": {"id": "b", "version": "2"}}
    )

    assert {change.path: change.replaces for change in found} == {
        "launchTemplate.id": True,
        "launchTemplate.version": False,
    }


def test_a_list_is_compared_element_by_element() -> None:
    found = changes(GROUP, {"subnetIds": ["a", "b"]}, {"subnetIds": ["a", "c", "d"]})

    assert [(change.path, change.kind) for change in found] == [
        ("subnetIds[1]", ChangeKind.UPDATE),
        ("subnetIds[2]", ChangeKind.ADD),
    ]


def test_a_key_with_punctuation_is_in_brackets() -> None:
    found = changes(GROUP, {"tags": {}}, {"tags": {"k8s.io/name": "x"}})

    assert [change.path for change in found] == ['tags["k8s.io/name"]']


def test_the_number_1_differs_from_true() -> None:
    assert [change.kind for change in changes(GROUP, {"tags": 1}, {"tags": True})] == [ChangeKind.UPDATE]


@pytest.mark.parametrize(
    ("old", "new", "first"),
    [
        ({"nodeGroupName": "a", "subnetIds": ["x"]}, {"nodeGroupName": "a", "subnetIds": ["y"]}, True),
        ({"subnetIds": ["x"]}, {"subnetIds": ["y"]}, False),
        ({"nodeGroupName": "a"}, {"nodeGroupName": "b"}, False),
        ({"nodeGroupName": "a", "tags": {}}, {"nodeGroupName": "a", "tags": {"x": "y"}}, False),
    ],
    ids=["the same name", "a generated name", "another name", "no replacement"],
)
def test_a_replacement_with_an_unchanged_name_is_deleted_first(
    old: dict[str, Any], new: dict[str, Any], first: bool
) -> None:
    assert deletes_first(GROUP, changes(GROUP, old, new), new) is first
