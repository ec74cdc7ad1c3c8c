"""The checks of a machine that exists between jobs, with offers made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from checks import money
from gpu.machines import ec2_type
from gpu.machines.running import Schedule
from gpu.regions import Cloud
from gpu.verdict import Level
from tests.checks.stacks import PATH, SECTION, offer, standing, verdicts

if TYPE_CHECKING:
    from back_ends.offer import Offer, Standing
    from gpu.verdict import Verdict

pytestmark = pytest.mark.pure

OFFICE: Final = Schedule(days=5, minutes=720)


def machine(made: Standing) -> Offer:
    """Return an offer of one T4 machine on EC2."""
    return offer(ec2_type("g4dn.xlarge"), zones=("us-west-2a",), cloud=Cloud.AWS, standing=made)


def months(made: Standing, jobs: int = 100) -> list[Verdict]:
    work = {"jobs-per-month": jobs, "minutes": 30}
    changes = {f"{PATH.replace('.', '/')}/workload": work}
    return [one for one in verdicts(money, changes, machine(made)) if one.subject == PATH]


def test_the_hours_of_a_month_and_the_cost_of_a_lost_stop_are_shown() -> None:
    (found,) = months(standing(schedule=OFFICE))

    assert found.level is Level.OK
    assert found.reason == "a month has 11 hours without jobs, 116 with the stated jobs, 261 at most"
    assert found.chain[0] == "a start that nothing ends ends after 12 hours, and costs at most 6.31 USD"


def test_more_jobs_than_hours_of_the_schedule_are_a_warning() -> None:
    warned, _ = months(standing(schedule=OFFICE), jobs=1000)

    assert (warned.level, warned.subject) == (Level.WARNING, PATH)
    assert warned.reason == "the stated jobs need 550 machine hours a month, and at most 261 are available"
    assert warned.fix == (f"lengthen {SECTION}.schedule or {SECTION}.max-hours, use more runners, or state fewer jobs")
    assert len(months(standing(schedule=OFFICE), jobs=474)) == 1


def test_more_jobs_than_a_month_has_hours_are_a_warning_without_a_schedule_to_lengthen() -> None:
    warned, _ = months(standing(by_workflow=True), jobs=2000)

    assert warned.fix == "use more runners, or state fewer jobs"
