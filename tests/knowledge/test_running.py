"""The hours and the month of a machine that exists between jobs."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_ci.knowledge.cost.jobs import JobLoad
from gpu_ci.knowledge.cost.month import Bill, Case, group_hours, machine_items, running_items
from gpu_ci.knowledge.cost.running import busy_hours, expected_hours, idle_hours, longest_start, worst_hours
from gpu_ci.knowledge.machines.groups import Disk, MachineGroup, Placement
from gpu_ci.knowledge.machines.running import RunningTime, Schedule
from gpu_ci.knowledge.regions import Cloud

pytestmark = pytest.mark.pure

OFFICE: Final = Schedule(days=5, minutes=720)
"""Monday to Friday from 08:00 to 20:00."""
JOBS: Final = JobLoad(path="runners.gpu", group="runners.gpu", jobs_per_month=100, mean_minutes=30)
NONE: Final = replace(JOBS, jobs_per_month=0)


@pytest.mark.parametrize(
    ("time", "hours"),
    [
        # 5 x 730 / 168 = 21.726190 starts of 12 hours.
        (RunningTime(schedule=OFFICE, most_hours=12), ("260.714286", "260.714286", "260.714286")),
        # The same starts, each of 30 minutes; and 100 jobs of 3 + 30 minutes.
        (RunningTime(schedule=OFFICE, idle_minutes=30, most_hours=12), ("10.863095", "65.863095", "260.714286")),
        # The limit of four hours is shorter than the schedule: 21.726190 x 4.
        (RunningTime(schedule=OFFICE, most_hours=4), ("86.904762", "86.904762", "86.904762")),
        # Every day from 08:00 to 08:00.
        (RunningTime(schedule=Schedule(days=7, minutes=1440), most_hours=168), ("730.000000",) * 3),
        # Someone starts it for each job.
        (RunningTime(idle_minutes=30, most_hours=12), ("0.000000", "105.000000", "730")),
        # Nothing stops it before its limit: 100 x 12 hours are more than a month has.
        (RunningTime(most_hours=12), ("0.000000", "730", "730")),
        (RunningTime(most_hours=3), ("0.000000", "300.000000", "730")),
        # The workflow stops it two minutes after the tests: 100 x 35 minutes.
        (RunningTime(by_workflow=True, idle_minutes=30, most_hours=12), ("0.000000", "58.333300", "730")),
    ],
)
def test_the_hours_of_a_month_follow_from_schedule_idle_stop_and_limit(
    time: RunningTime, hours: tuple[str, ...]
) -> None:
    assert (idle_hours(time), expected_hours(time, [JOBS], 0.0), worst_hours(time)) == tuple(map(Decimal, hours))


def test_a_start_lasts_until_the_schedule_or_the_limit_ends_it() -> None:
    assert longest_start(RunningTime(schedule=OFFICE, most_hours=24)) == 12
    assert longest_start(RunningTime(schedule=OFFICE, most_hours=4)) == 4
    assert longest_start(RunningTime(most_hours=24)) == 24


def test_jobs_one_after_another_need_no_idle_minutes() -> None:
    assert busy_hours([JOBS, JOBS], 0.0) == 110


MACHINE: Final = MachineGroup(
    path="runners.gpu",
    cloud=Cloud.AWS,
    types=("g4dn.xlarge",),
    placements=(Placement(region="us-west-2", zones=("us-west-2a",), spot=False),),
    max=1,
    disk=Disk(gib=100),
    running=RunningTime(schedule=OFFICE, idle_minutes=30, most_hours=12, alarms=4, metrics=3),
)


def month(group: MachineGroup, *loads: JobLoad) -> dict[str, list[Decimal]]:
    """Return the cost of each part of a group in each month."""
    hours = group_hours(group, loads)
    items = Bill(items=(*machine_items(group, hours), *running_items(group, hours))).items
    found: dict[str, list[Decimal]] = {}
    for item in items:
        before = found.get(item.what, [Decimal(0)] * 3)
        found[item.what] = [round(usd + item.usd(case), 4) for usd, case in zip(before, Case, strict=True)]
    return found


def test_a_machine_on_aws_costs_its_hours_its_disk_its_address_and_its_alarms() -> None:
    assert month(MACHINE, JOBS) == {
        "g4dn.xlarge, on-demand": [Decimal("5.7140"), Decimal("34.6440"), Decimal("137.1357")],
        "root disk": [8, 8, 8],
        "public address": [Decimal("0.0543"), Decimal("0.3293"), Decimal("1.3036")],
        "alarms": [Decimal("0.4")] * 3,
        "figures for the alarms": [Decimal("0.0134"), Decimal("0.0812"), Decimal("0.3214")],
    }


def test_a_machine_on_google_cloud_pays_an_announced_price_for_alarms_and_nothing_for_figures() -> None:
    on_gcp = replace(
        MACHINE,
        cloud=Cloud.GCP,
        types=("n1-standard-4",),
        placements=(Placement(region="us-central1", zones=("us-central1-a",), spot=False),),
        disk=Disk(gib=100, kind="pd-balanced"),
        attached_gpu="t4",
        attached_gpus=1,
    )

    assert month(on_gcp, NONE) == {
        "n1-standard-4, on-demand": [Decimal("5.8661"), Decimal("5.8661"), Decimal("140.7857")],
        "root disk": [10, 10, 10],
        "public address": [Decimal("0.0543"), Decimal("0.0543"), Decimal("1.3036")],
        "alarms": [6, 6, 6],
    }


def test_a_paused_instance_of_jarvis_labs_costs_its_storage() -> None:
    instance = replace(
        MACHINE,
        cloud=Cloud.JARVIS,
        types=("1xL4",),
        placements=(Placement(region="", spot=False),),
        running=RunningTime(by_workflow=True, most_hours=4),
    )

    assert month(instance, JOBS) == {
        "1xL4, on-demand": [Decimal(0), Decimal("25.6667"), Decimal("321.2")],
        "root disk": [10, 10, 10],
    }


def test_an_address_and_alarms_that_do_not_exist_cost_nothing() -> None:
    bare = replace(MACHINE, running=RunningTime(idle_minutes=30, most_hours=12, public_address=False))

    assert set(month(bare, JOBS)) == {"g4dn.xlarge, on-demand", "root disk"}


TIMES: Final = st.builds(
    RunningTime,
    by_workflow=st.booleans(),
    schedule=st.none() | st.builds(Schedule, days=st.integers(1, 7), minutes=st.integers(1, 1440)),
    idle_minutes=st.integers(0, 1440),
    most_hours=st.integers(1, 168),
)
LOADS: Final = st.builds(
    lambda jobs, minutes: replace(JOBS, jobs_per_month=jobs, mean_minutes=minutes),
    st.integers(0, 20_000),
    st.floats(1, 600),
)
RATES: Final = st.sampled_from([0.0, 0.0006, 1.0])


def hours(time: RunningTime, load: JobLoad, rate: float) -> list[Decimal]:
    return [idle_hours(time), expected_hours(time, [load], rate), worst_hours(time)]


@given(TIMES, LOADS, RATES)
def test_the_months_are_ordered_and_no_month_is_longer_than_a_month(
    time: RunningTime, load: JobLoad, rate: float
) -> None:
    found = hours(time, load, rate)

    assert found == sorted(found)
    assert found[0] >= 0
    assert found[2] <= 730


@given(TIMES, LOADS, RATES, st.integers(1, 500))
def test_no_parameter_shortens_a_month_by_growing(time: RunningTime, load: JobLoad, rate: float, more: int) -> None:
    before = hours(time, load, rate)
    larger = [hours(replace(time, most_hours=time.most_hours + more), load, rate)]
    larger.append(hours(time, replace(load, jobs_per_month=load.jobs_per_month + more), rate))
    larger.append(hours(time, replace(load, mean_minutes=load.mean_minutes + more), rate))
    if time.idle_minutes:
        larger.append(hours(replace(time, idle_minutes=time.idle_minutes + more), load, rate))
        # Without an idle stop a machine is never idle for too long.
        larger.append(hours(replace(time, idle_minutes=0), load, rate))
    if time.schedule is not None:
        longer = Schedule(days=time.schedule.days, minutes=min(1440, time.schedule.minutes + more))
        larger.append(hours(replace(time, schedule=longer), load, rate))
        larger.append(hours(replace(time, schedule=replace(time.schedule, days=7)), load, rate))

    assert all(after >= one for found in larger for one, after in zip(before, found, strict=True))


@given(TIMES, LOADS)
def test_interruptions_never_make_a_month_cheaper(time: RunningTime, load: JobLoad) -> None:
    assert hours(time, load, 1.0) >= hours(time, load, 0.0)
