"""The hours in a month of a machine that exists between jobs.

A start lasts at most its limit, and with a schedule at most from the start to the stop of the schedule. A week has the
stated number of scheduled starts, and a month has 730 / 168 weeks.

- Idle: every scheduled start lasts until the machine has been idle for the stated minutes; where it does not stop when
  it is idle, until the end. Without a schedule nothing starts the machine.
- Expected: the idle month, and for each stated job its start, its minutes and attempts lost to interruptions. With a
  schedule the jobs run one after another within its starts. Without one each job has a start of its own, which also
  lasts until the machine stops: for the minutes of the idle stop, or until the workflow's own job has stopped it; and
  for a whole start where nothing stops an idle machine. Jobs that share a start cost less.
- Worst: every hour of the schedule; without one the whole month, because a start can follow each stop. A schedule does
  not prevent additional starts by a person, which are not included.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from gpu_ci.knowledge.cost.jobs import JobLoad, machine_hours
from gpu_ci.knowledge.cost.prices import HOURS_A_MONTH
from gpu_ci.knowledge.machines.running import RunningTime

STOP_MINUTES: Final = 2.0
"""Minutes from the end of the tests until the workflow's own job has stopped the machine. An estimate."""
_HOURS_A_WEEK: Final = 168


def longest_start(time: RunningTime) -> float:
    """Return the hours after which a start ends in any case."""
    scheduled = time.schedule.minutes / 60 if time.schedule is not None else float("inf")
    return min(float(time.most_hours), scheduled)


def idle_hours(time: RunningTime) -> Decimal:
    """Return the hours of a month without a job."""
    longest = longest_start(time)
    each = min(longest, time.idle_minutes / 60) if time.idle_minutes else longest
    return min(_exact(_starts(time) * each), worst_hours(time))


def worst_hours(time: RunningTime) -> Decimal:
    """Return the largest number of hours in a month."""
    if time.schedule is None:
        return Decimal(HOURS_A_MONTH)
    return min(_exact(_starts(time) * longest_start(time)), Decimal(HOURS_A_MONTH))


def expected_hours(time: RunningTime, loads: Iterable[JobLoad], rate: float) -> Decimal:
    """Return the hours of a month with the stated jobs, at an interruption rate in an hour."""
    most = worst_hours(time)
    longest = longest_start(time)
    total = idle_hours(time)
    for load in loads:
        alone = machine_hours(load.mean_minutes, rate) + (0.0 if time.schedule else _tail_minutes(time) / 60)
        total += load.jobs_per_month * _exact(min(alone, longest))
    return min(total, most)


def busy_hours(loads: Iterable[JobLoad], rate: float) -> Decimal:
    """Return the hours that the stated jobs keep a machine busy, one after another, without a new start for each."""
    return sum((load.jobs_per_month * _exact(machine_hours(load.mean_minutes, rate)) for load in loads), Decimal(0))


def _starts(time: RunningTime) -> float:
    return time.schedule.days * HOURS_A_MONTH / _HOURS_A_WEEK if time.schedule is not None else 0.0


def _tail_minutes(time: RunningTime) -> float:
    if time.by_workflow:
        return STOP_MINUTES
    return float(time.idle_minutes) if time.idle_minutes else float("inf")


def _exact(hours: float) -> Decimal:
    return Decimal(hours).quantize(Decimal("0.000001"))
