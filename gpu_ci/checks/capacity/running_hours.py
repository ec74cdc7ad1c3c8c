"""Check the times of scheduled workflows against the hours in which the machine of their jobs runs.

A job that starts while the machine is off waits for its next start, and GitHub cancels a job that waited for 24 hours
(GitHub Docs, "Actions limits", 2026). Times of cron are in UTC, and a schedule is in its own time zone, so both are
compared at each offset of the zone during a year.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from gpu_ci.back_ends.shared.machine.hours import DAY, DAYS, WEEK, Hours
from gpu_ci.back_ends.stack import Stack
from gpu_ci.derived.gpu_tests import runner_of, testable
from gpu_ci.knowledge.verdict import Verdict, error, warning
from gpu_ci.stack_file.values.github import cron_numbers

CHECK: Final = "running-hours"
LIMIT: Final = 24 * 60
"""The minutes after which GitHub cancels a job in the queue."""
SHORT: Final = 180
"""The minutes of a wait that is meant: a job that waits for the start, also with another offset of the time zone."""
LEAD: Final = 53
"""Minutes before a start at which a workflow should begin. GitHub starts scheduled workflows late."""


def check(stack: Stack) -> Iterator[Verdict]:
    """Yield an error for times at which no job is run, and a warning for those at which a job waits for long."""
    settings = stack.settings
    for name, entry in settings.gpu_tests.items():
        path, runner = f"gpu-tests.{name}", runner_of(entry, settings)
        if entry.nightly is not None and runner is not None:
            yield from _judged(stack, f"{path}.nightly", entry.nightly, runner)
        for one in testable(settings) if entry.smoke_schedule is not None else ():
            yield from _judged(stack, f"{path}.smoke-schedule", entry.smoke_schedule or "", one)


def times(cron: str) -> list[int]:
    """Return the minutes of the week at which a cron expression may start. A day of a month may be any weekday."""
    minutes, hours, _, _, weekdays = cron_numbers(cron)
    days = {day % 7 for day in weekdays} if cron.split()[2].startswith("*") else {*range(7)}
    return sorted(day * DAY + hour * 60 + minute for day, hour, minute in product(days, hours, minutes))


def wait(hours: Hours, runs: int, minute: int, offset: int) -> int:
    """Return the minutes until the machine runs, which stops `runs` minutes after each start if it has no job."""
    starts = hours.starts(offset)
    if any((minute - start) % WEEK < runs for start in starts):
        return 0
    return min((start - minute) % WEEK for start in starts)


def better(hours: Hours, cron: str) -> str:
    """Return the cron expression that begins shortly before the next start after each time."""
    starts = [(start - LEAD) % WEEK for start in hours.starts(hours.offsets[-1])]
    chosen = {min(starts, key=lambda start: (start - minute) % WEEK) for minute in times(cron)}
    hour, minute = divmod(min(chosen) % DAY, 60)
    days = sorted({start // DAY for start in chosen})
    named = "*" if len(days) == len(DAYS) else ",".join(map(str, days))
    return f"{minute} {hour} * * {named}"


def _judged(stack: Stack, path: str, cron: str, runner: str) -> Iterator[Verdict]:
    own = stack.offers[runner].own
    standing = own.standing if own is not None else None
    if standing is None or standing.time.by_workflow:
        return
    if (hours := standing.hours) is None:
        if standing.time.idle_minutes:
            reason = f"only a person starts the machine of {runner}, and GitHub cancels a job that waited for 24 hours"
            yield warning(CHECK, path, reason, f"state {standing.schedule_key}, or use start-stop")
        return
    runs = min(standing.time.idle_minutes or hours.length, hours.length)
    waits = {(minute, offset): wait(hours, runs, minute, offset) for minute in times(cron) for offset in hours.offsets}
    longest, minute, offset = max((longest, *when) for when, longest in waits.items())
    if longest <= SHORT:
        return
    shown = f"{DAYS[minute // DAY]} {minute % DAY // 60:02}:{minute % 60:02} UTC"
    # Within its hours, an earlier job may keep it on.
    idle = (
        ""
        if wait(hours, hours.length, minute, offset)
        else f" after {standing.time.idle_minutes} minutes without a job"
    )
    cancelled = ", and GitHub cancels it after 24" if longest >= LIMIT else ""
    reason = f"at {shown} the machine of {runner} is off{idle}, so the job waits for {longest // 60} hours{cancelled}"
    report = error if min(waits.values()) >= LIMIT else warning
    fix = f'write "{better(hours, cron)}", or change {standing.idle_key if idle else standing.schedule_key}'
    chain = f"it starts at {hours.start} and stops at {hours.stop} in {hours.time_zone} on {', '.join(hours.days)}"
    yield report(CHECK, path, reason, fix, (chain,))
