"""The check `running-hours`: times of scheduled workflows against the hours of the machine of their jobs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_ci.back_ends.registry import stack_of
from gpu_ci.back_ends.shared.machine.hours import DAYS, Hours
from gpu_ci.checks.capacity import running_hours
from gpu_ci.checks.capacity.running_hours import SHORT, better, times, wait
from gpu_ci.stack_file.identity import Identity
from tests.stack_file import stacks
from tests.tables import OUT

pytestmark = pytest.mark.pure

VM: Final = "runners/gpu-vm/vm"
OFFICE: Final = {"time-zone": "UTC", "start": "08:00", "stop": "18:00"}
ALL_DAY: Final = {f"{VM}/schedule": OFFICE, f"{VM}/max-hours": 12, f"{VM}/idle-stop-minutes": OUT}


def found(entry: Mapping[str, Any], changes: Mapping[str, Any], stack: str = "examples/vm-aws.yaml") -> list[str]:
    settings = stacks.settings(stack, {"gpu-tests": {"vision": dict(entry)}, **changes})
    verdicts = running_hours.check(stack_of(settings, Identity(project="gpu-ci", stack="staging")))
    return [f"{one.level} {one.subject}: {one.reason}; {one.fix}" for one in verdicts]


@pytest.mark.parametrize(
    ("entry", "changes", "words"),
    [
        ({"nightly": "17 3 * * MON-FRI"}, {}, ("warning gpu-tests.vision.nightly: at fri 03:17 UTC the machine of gpu-vm is "
         'off after 30 minutes without a job, so the job waits for 69 hours, and GitHub cancels it after 24; write "7 23 * * '
         '0,1,2,3,4", or change runners.gpu-vm.vm.idle-stop-minutes')),
        ({"nightly": "17 3 * * MON-FRI"}, {f"{VM}/idle-stop-minutes": OUT}, ""),
        ({"nightly": "17 3 * * MON-FRI"}, ALL_DAY, "is off, so the job waits for 4 hours; write"),
        ({"nightly": "17 9 * * *"}, ALL_DAY, "at sat 09:17 UTC"),
        ({"nightly": "17 9 * * SAT"}, ALL_DAY, "error gpu-tests.vision.nightly: at sat 09:17 UTC"),
        ({"nightly": "17 9 1 * *"}, ALL_DAY, "at sat 09:17 UTC"),
        ({"nightly": "17 9 * * 1-5"}, ALL_DAY, ""),
        ({"nightly": "17 6 * * 1-5"}, ALL_DAY, ""),
        ({"smoke-test": True, "smoke-schedule": "23 5 * * 7"}, ALL_DAY, "error gpu-tests.vision.smoke-schedule: at sun"),
        ({"nightly": "7 3 * * *"}, {f"{VM}/schedule": OUT}, "only a person starts the machine of gpu-vm"),
        ({"nightly": "7 3 * * *"}, {f"{VM}/schedule": OUT, f"{VM}/idle-stop-minutes": 0}, ""),
    ],
)  # fmt: skip
def test_a_job_that_waits_for_its_machine_is_reported(entry: Any, changes: Any, words: str) -> None:
    reported = found(entry, changes)

    assert (len(reported), words in "".join(reported)) == (1 if words else 0, True)


def test_a_machine_that_the_workflow_starts_has_no_hours() -> None:
    assert found({"nightly": "17 3 * * *"}, {}, "examples/start-stop.yaml") == []


CLOCK: Final = st.builds("{:02}:{:02}".format, st.integers(0, 23), st.integers(0, 59))
HOURS: Final = st.builds(
    Hours,
    time_zone=st.sampled_from(
        [
            "UTC",
            "Europe/Prague",
            "America/Los_Angeles",
            "Asia/Kolkata",
            "Pacific/Auckland",
            "Africa/Casablanca",
            "Antarctica/Troll",
        ]
    ),
    days=st.lists(st.sampled_from(DAYS), min_size=1, unique=True),
    start=CLOCK,
    stop=CLOCK,
)
WEEKLY: Final = st.builds("{} {} * * {}".format, st.integers(0, 59), st.integers(0, 23), st.sampled_from("0123456*"))
IDLE: Final = st.integers(1, 1440)


def longest(hours: Hours, runs: int, cron: str) -> int:
    return max(wait(hours, runs, minute, offset) for minute in times(cron) for offset in hours.offsets)


@given(HOURS, WEEKLY, IDLE)
def test_the_suggested_time_needs_no_other_and_a_year_of_jobs_waits_as_long_as_reported(
    hours: Hours, cron: str, idle: int
) -> None:
    runs, zone = min(idle, hours.length), ZoneInfo(hours.time_zone)
    assert longest(hours, runs, better(hours, cron)) <= SHORT
    waits = []
    days = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day) for day in range(365)]
    clock = {"hour": int(hours.start[:2]), "minute": int(hours.start[3:])}
    starts = [
        day.replace(tzinfo=zone, **clock).astimezone(UTC) for day in days if DAYS[day.isoweekday() % 7] in hours.days
    ]
    minute, hour, *_, weekday = cron.split()
    for day in days[8:-8]:
        at = day.replace(hour=int(hour), minute=int(minute))
        if weekday in {"*", str(day.isoweekday() % 7)}:
            after = next(start for start in starts if start + timedelta(minutes=runs) > at)
            waits.append(max(0, int((after - at).total_seconds()) // 60))

    # In the week in which clocks change, a start is up to two hours earlier or later.
    assert abs(longest(hours, runs, cron) - max(waits)) <= 120
