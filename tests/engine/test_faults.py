"""Counting of injected faults."""

from __future__ import annotations

import pytest

from ops.fakes.protocol.faults import Fault, Faults

pytestmark = pytest.mark.pure

KEY = "aws:kms/key:Key"
ROLE = "aws:iam/role:Role"


def failing(faults: Faults, *calls: tuple[str, str]) -> list[int]:
    """Return the numbers of the calls that fail, from 1."""
    return [place for place, call in enumerate(calls, 1) if faults.due(*call)]


@pytest.mark.parametrize(
    ("faults", "calls", "failed"),
    [
        pytest.param([Fault(operation="create", nth=2)], [("create", KEY)] * 5, [2], id="once"),
        pytest.param(
            [Fault(operation="create", nth=2, type=KEY)],
            [("create", KEY), ("create", ROLE), ("update", KEY), ("create", ROLE), ("create", KEY)],
            [5],
            id="other-operations-and-types-do-not-count",
        ),
        pytest.param(
            [Fault(operation="create", nth=3), Fault(operation="create", nth=1, type=ROLE)],
            [("create", KEY), ("create", ROLE), ("create", KEY), ("create", KEY)],
            [2, 3],
            id="two-faults-count-separately",
        ),
    ],
)
def test_a_fault_applies_to_the_matching_call_with_its_number(
    faults: list[Fault], calls: list[tuple[str, str]], failed: list[int]
) -> None:
    assert failing(Faults(faults), *calls) == failed


def test_an_armed_fault_counts_calls_until_it_is_disarmed() -> None:
    faults = Faults()
    failing(faults, ("create", KEY))
    faults.arm(Fault(operation="create"))
    first = failing(faults, ("create", KEY), ("create", KEY))
    faults.arm(Fault(operation="create"))
    faults.disarm()

    assert (first, failing(faults, ("create", KEY))) == ([1], [])
