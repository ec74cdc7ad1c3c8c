"""Counting of injected faults."""

from __future__ import annotations

import pytest

from fakes.faults import Fault, Faults

pytestmark = pytest.mark.pure

KEY = "aws:kms/key:Key"
ROLE = "aws:iam/role:Role"


def failing(faults: Faults, *calls: tuple[str, str]) -> list[int]:
    """Return the numbers of the calls that fail, from 1."""
    return [place for place, call in enumerate(calls, 1) if faults.due(*call)]


def test_a_fault_applies_to_the_nth_call_once() -> None:
    faults = Faults([Fault(operation="create", nth=2)])

    assert failing(faults, *[("create", KEY)] * 5) == [2]


def test_other_operations_and_types_do_not_count() -> None:
    faults = Faults([Fault(operation="create", nth=2, type=KEY)])
    calls = (("create", KEY), ("create", ROLE), ("update", KEY), ("create", ROLE), ("create", KEY))

    assert failing(faults, *calls) == [5]


def test_two_faults_count_separately() -> None:
    faults = Faults([Fault(operation="create", nth=3), Fault(operation="create", nth=1, type=ROLE)])

    assert failing(faults, ("create", KEY), ("create", ROLE), ("create", KEY), ("create", KEY)) == [2, 3]


def test_a_later_fault_counts_from_then() -> None:
    faults = Faults()
    failing(faults, ("create", KEY))
    faults.arm(Fault(operation="create"))

    assert failing(faults, ("create", KEY), ("create", KEY)) == [1]


def test_disarmed_faults_do_not_apply() -> None:
    faults = Faults([Fault(operation="create")])
    faults.disarm()

    assert failing(faults, ("create", KEY)) == []
