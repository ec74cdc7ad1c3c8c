"""A stop job that is lost: the clouds themselves stop the machine, and the cost has a bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_ci.back_ends.shared.machine.aws.function.index import check
from gpu_ci.back_ends.shared.machine.aws.time_limit import MINUTES
from gpu_ci.back_ends.start_stop.section import StartStopSection
from tests.stack_file import stacks
from tests.start_stop.stand_ins import BEGIN

pytestmark = pytest.mark.pure

EXAMPLE = "examples/start-stop.yaml"
G4DN_XLARGE = 0.526
"""Dollars an hour in us-west-2 (AWS price list, 2026)."""


@dataclass(slots=True)
class RunningEc2:
    """EC2 with one instance that only the outside stops: GitHub is down, and nothing on the instance works."""

    launched: datetime
    state: str = "running"

    def describe_instances(self, **_: Any) -> dict[str, Any]:
        instance = {"State": {"Name": self.state}, "LaunchTime": self.launched, "Tags": []}
        return {"Reservations": [{"Instances": [instance]}]}

    def describe_instance_status(self, **_: Any) -> dict[str, Any]:
        return {"InstanceStatuses": []}

    def stop_instances(self, **_: Any) -> None:
        self.state = "stopped"


def run_time(phase: timedelta, limit: timedelta, lost: Sequence[bool] = ()) -> timedelta:
    """Return how long an instance runs. The schedule calls the function at `phase`, except for lost calls."""
    ec2, now = RunningEc2(launched=BEGIN), BEGIN + phase
    outages = list(lost)
    while ec2.state == "running":
        if not (outages and outages.pop(0)):
            check(ec2, "i-1", limit, now)
        if ec2.state == "running":
            now += timedelta(minutes=MINUTES)
    return now - BEGIN


@given(seconds=st.integers(min_value=0, max_value=MINUTES * 60 - 1), hours=st.integers(min_value=1, max_value=168))
def test_aws_stops_a_machine_within_the_stated_bound(seconds: int, hours: int) -> None:
    limit = timedelta(hours=hours)

    ran = run_time(timedelta(seconds=seconds), limit)

    assert limit <= ran < limit + timedelta(minutes=MINUTES)


def test_a_lost_call_of_the_schedule_delays_the_stop_by_one_interval() -> None:
    limit = timedelta(hours=2)
    calls = int(limit / timedelta(minutes=MINUTES))

    ran = run_time(timedelta(), limit, lost=[*[False] * calls, True])

    assert ran == limit + timedelta(minutes=MINUTES)


def test_a_lost_stop_of_the_example_costs_at_most_the_stated_bound() -> None:
    settings = stacks.settings(EXAMPLE)
    bounds = {
        name: section.machine.max_hours + (MINUTES / 60 if section.machine.cloud == "aws" else 0)
        for name, _, section in settings.served(StartStopSection)
        if section.machine is not None
    }

    # `docs/how-to/start-stop.md` states the first figure.
    assert bounds == {"gpu-t4": 2.25, "gpu-l4": 2.0}
    assert bounds["gpu-t4"] * G4DN_XLARGE == pytest.approx(1.18, abs=0.01)
