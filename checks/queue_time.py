"""How long a job waits for its first command, against what was asked for, and what would shorten it.

Owns what is said; the steps are in `gpu.machines.queue_steps`, their figures in `gpu.machines.start_up`, what would help in
`gpu.machines.levers`, how long jobs wait for each other in `gpu.machines.waiting_line`. The times are those of a job that
finds nothing running: the first of the morning, and every one where a pool goes back to nothing in between.
"""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from gpu.cost.prices import dollars
from gpu.machines.levers import levers
from gpu.machines.queue_steps import FAST_PULL_DISK_MIBPS, BackEnd, QueueFacts, no_fast_image_pull, queue_wait, stages
from gpu.machines.waiting_line import BUSY_HOURS_A_MONTH, enough, of_month
from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from gpu.machines.levers import Lever

__all__ = ["CHECK", "BackEnd", "QueueFacts", "judge"]

CHECK = "queue-time"


def judge(facts: QueueFacts) -> list[Verdict]:
    """Say how long jobs wait, whether that is what was asked, and whether they will wait for each other."""
    return [_cold(facts), *_pull(facts), *_line(facts)]


def _cold(facts: QueueFacts) -> Verdict:
    steps, found = stages(facts), queue_wait(facts)
    reason = f"a job waits {found.p50 / 60:.1f} minutes for a runner, one in twenty more than {found.p95 / 60:.1f}"
    chain = tuple(
        f"{step.name}: {step.p50:.0f} s, one in twenty more than {step.p95:.0f} s"
        f" ({'estimate: ' if step.estimate else ''}{step.source})"
        for step in steps
    )
    target = facts.target_minutes
    if target is None or found.p95 <= target * 60:
        met = "" if target is None else f", within its target of {target}"
        return _verdict(Level.OK, facts.path, f"{reason}{met}", chain=chain)
    able = levers(facts)
    return _verdict(
        Level.ERROR if found.p50 > target * 60 else Level.WARNING,
        f"{facts.path}.queue-target-minutes",
        f"{reason}, and {target} are asked for",
        _way_out(able, target, found.p95),
        (*chain, *(_told(lever) for lever in able)),
    )


def _way_out(able: tuple[Lever, ...], target: int, p95: float) -> str:
    enough = [lever for lever in able if lever.after is not None and lever.after.p95 <= target * 60]
    if not enough:
        # A machine of its own for every job: there is no image to pull, and none that could be kept waiting.
        return f"nothing that can be stated makes it shorter: raise it to {math.ceil(p95 / 60)}"
    cheapest = min(enough, key=lambda lever: (lever.month is None, lever.month or Decimal(0)))
    return f"{cheapest.change} ({_cost(cheapest)})"


def _told(lever: Lever) -> str:
    if lever.after is None:
        return f"{lever.name} is no help: {lever.hindrance}"
    return f"{lever.name} would make it {lever.after.p50 / 60:.1f} and {lever.after.p95 / 60:.1f}, {_cost(lever)}"


def _cost(lever: Lever) -> str:
    if lever.month is None:
        return "at a price that is not known"
    return f"{dollars(lever.month)} a month" if lever.month else "at no running cost"


def _pull(facts: QueueFacts) -> list[Verdict]:
    """Parallel pulling that is asked for where it is left out, or no gain: nodeadm says neither."""
    hindrance = no_fast_image_pull(facts) if facts.fast_image_pull else ""
    if not hindrance:
        return []
    return [
        _verdict(
            Level.WARNING,
            f"{facts.pool}.fast-image-pull",
            f"pulling in parallel is no help on the nodes of {facts.pool}: {hindrance}",
            f"{_helped(facts)}, or leave fast-image-pull out",
        )
    ]


def _helped(facts: QueueFacts) -> str:
    faster = replace(facts, disk_mibps=FAST_PULL_DISK_MIBPS)
    if not no_fast_image_pull(faster):
        return f"state {facts.pool}.disk.throughput: {FAST_PULL_DISK_MIBPS}"
    return f"list only types that have it in {facts.pool}.instance-types"


def _line(facts: QueueFacts) -> list[Verdict]:
    if not facts.jobs_per_month or facts.back_end is not BackEnd.ARC:
        return []
    line = of_month(facts.jobs_per_month, facts.minutes, facts.max_runners)
    chain = (
        f"{facts.jobs_per_month} jobs in {BUSY_HOURS_A_MONTH} working hours are {line.arrivals_per_hour:.1f} an hour",
        f"each holds a runner for {facts.minutes:g} minutes, so {line.load:.1f} of {line.runners} runners are busy",
        f"a job finds all of them busy {line.waits:.0%} of the time (Erlang C)",
    )
    needed = enough(facts.jobs_per_month, facts.minutes, facts.target_minutes)
    raised = f"set it to at least {needed}, and {facts.pool}.max with it"
    if not line.stable:
        return [
            _verdict(
                Level.WARNING,
                f"{facts.path}.arc.max",
                f"{line.load:.1f} runners are busy on average in working hours, and {line.runners} is the maximum: "
                "the line grows all day",
                raised,
                chain,
            )
        ]
    late = facts.target_minutes is not None and line.p95_wait_minutes > facts.target_minutes
    return [
        _verdict(
            Level.WARNING if late else Level.OK,
            f"{facts.path}.arc.max",
            f"at {line.runners} runners a job waits {line.mean_wait_minutes:.1f} minutes for another to end, "
            f"one in twenty more than {line.p95_wait_minutes:.1f}",
            raised if late else "",
            chain,
        )
    ]


def _verdict(level: Level, subject: str, reason: str, fix: str = "", chain: tuple[str, ...] = ()) -> Verdict:
    return Verdict(check=CHECK, level=level, subject=subject, reason=reason, fix=fix, chain=chain)
