"""Which call a fault befalls."""

from __future__ import annotations

import pytest

from fakes.faults import Fault, Faults

pytestmark = pytest.mark.pure

KEY = "aws:kms/key:Key"
ROLE = "aws:iam/role:Role"


def befallen(faults: Faults, *calls: tuple[str, str]) -> list[int]:
    """The places of the calls that something befalls, from 1."""
    return [place for place, call in enumerate(calls, 1) if faults.due(*call)]


def test_a_fault_befalls_the_nth_call_once() -> None:
    faults = Faults([Fault(operation="create", nth=2)])

    assert befallen(faults, *[("create", KEY)] * 5) == [2]


def test_other_operations_and_types_do_not_count() -> None:
    faults = Faults([Fault(operation="create", nth=2, type=KEY)])
    calls = (("create", KEY), ("create", ROLE), ("update", KEY), ("create", ROLE), ("create", KEY))

    assert befallen(faults, *calls) == [5]


def test_two_faults_count_apart() -> None:
    faults = Faults([Fault(operation="create", nth=3), Fault(operation="create", nth=1, type=ROLE)])

    assert befallen(faults, ("create", KEY), ("create", ROLE), ("create", KEY), ("create", KEY)) == [2, 3]


def test_a_fault_that_is_armed_later_counts_from_then() -> None:
    faults = Faults()
    befallen(faults, ("create", KEY))
    faults.arm(Fault(operation="create"))

    assert befallen(faults, ("create", KEY), ("create", KEY)) == [1]


def test_disarmed_faults_befall_nobody() -> None:
    faults = Faults([Fault(operation="create")])
    faults.disarm()

    assert befallen(faults, ("create", KEY)) == []
