"""The checks of a runner whose machine exists already: the stack does not create it, and does not know its disk."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from gpu_ci.back_ends.offer import Machine
from gpu_ci.checks import gpu_tests, plausibility, untrusted_jobs
from gpu_ci.checks.capacity import quota
from gpu_ci.checks.cost import money
from gpu_ci.checks.cost.bill import bill
from gpu_ci.checks.cost.machine_groups import machine_groups
from gpu_ci.checks.nodes import floor, machine_fit
from gpu_ci.knowledge.cost.month import Case
from gpu_ci.knowledge.verdict import Level
from tests.checks.stacks import stack
from tests.stack_file.stacks import AWS

if TYPE_CHECKING:
    from gpu_ci.back_ends.offer import Offer
    from gpu_ci.back_ends.stack import Stack

pytestmark = pytest.mark.pure

RUNNER: Final = "runners.cirun-aws-gpu"
CREATED: Final = stack(
    {
        "runners/cirun-aws-gpu/workload": {"jobs-per-month": 100, "minutes": 20},
        "gpu-tests": {"vision": {"cache": "/cache"}},
    },
    name=AWS,
)


def _exists(offer: Offer) -> Offer:
    assert offer.own is not None
    return replace(
        offer,
        machines=tuple(Machine(type=machine.type, disk_gib=0) for machine in offer.machines),
        own=replace(offer.own, created=False, disk_gib=0, disk_key="", disk_kind=""),
    )


EXISTING: Final = replace(CREATED, offers={name: _exists(offer) for name, offer in CREATED.offers.items()})


def test_its_machine_costs_nothing_and_needs_no_quota() -> None:
    def counted(of: Stack) -> tuple[bool, bool, bool]:
        return (
            RUNNER in {group.path for group in machine_groups(of)},
            RUNNER in bill(of).by_path(Case.WORST),
            any(RUNNER in verdict.subject for verdict in quota.check(of)),
        )

    assert counted(CREATED) == (True, True, True)
    assert counted(EXISTING) == (False, False, False)


def test_its_jobs_are_not_compared_with_githubs_prices() -> None:
    assert [verdict.subject for verdict in money.check(CREATED)][-1] == "runners"
    assert "runners" not in [verdict.subject for verdict in money.check(EXISTING)]


def test_an_unknown_disk_is_not_too_small() -> None:
    found = [*machine_fit.check(EXISTING), *floor.check(EXISTING)]

    assert [(verdict.level, verdict.reason) for verdict in found] == [
        (Level.OK, "it fits g4dn.xlarge, alone on its machine"),
        (Level.OK, "g4dn.xlarge with t4 is large enough"),
    ]


def test_cirun_does_not_serve_it() -> None:
    assert [verdict.subject for verdict in plausibility.check(CREATED)] == []
    assert [verdict.subject for verdict in plausibility.check(EXISTING)] == ["cirun.aws"]
    assert "cirun" in [verdict.subject for verdict in untrusted_jobs.check(CREATED)]
    assert "cirun" not in [verdict.subject for verdict in untrusted_jobs.check(EXISTING)]


def test_a_folder_of_it_may_keep_the_caches_of_jobs() -> None:
    assert [verdict.subject for verdict in gpu_tests.check(CREATED)] == ["gpu-tests.vision.cache"]
    assert list(gpu_tests.check(EXISTING)) == []
