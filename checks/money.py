"""What is said of a stack's month: what it costs, whether that is within its limits, and when GitHub would be cheaper.

Owns the limits and the comparison with GitHub's own GPU runners; the lines of a month are `gpu.cost.month`. What has no
known price is parted from the rest in `gpu.cost.unpriced`. The rest is summed, and said to be without it; but nothing is
held against a limit then, nor against GitHub's price: an estimate with a hole in it looks like a cheap stack.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING

from gpu.cost.month import Bill, Case, bill, job_hours, job_minutes, node_month
from gpu.cost.prices import HOURS_A_MONTH, Unit, dollars, hosted_runner
from gpu.cost.unpriced import Missing, part
from gpu.machines import EC2_TYPES
from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from gpu.cost.estate import Estate, Fleet, Load
    from gpu.nearest import UnknownName

CHECK = "money"

_SHOWN = 5
"""Lines that a verdict names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """What a month may cost."""

    path: str
    """Where the stack file states it, as in `budget.month`."""
    usd: Decimal
    case: Case = Case.EXPECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Reckoning:
    """The three months of a stack."""

    idle: Bill
    expected: Bill
    worst: Bill

    def of(self, case: Case) -> Bill:
        """One of them."""
        return {Case.IDLE: self.idle, Case.EXPECTED: self.expected, Case.WORST: self.worst}[case]


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakEven:
    """One's own machines against GitHub's GPU runners."""

    fixed_month: Decimal
    """What is paid without any job."""
    own_minute: Decimal
    """What a minute of a job costs beyond that."""
    hosted_minute: Decimal

    @property
    def minutes(self) -> int | None:
        """Job minutes in a month from which one's own machines are cheaper; none if they never are."""
        saved = self.hosted_minute - self.own_minute
        if saved <= 0:
            return None
        return int((self.fixed_month / saved).to_integral_value(ROUND_CEILING))


def reckon(estate: Estate) -> Reckoning:
    """All three months. Something without a known price raises `UnknownName`."""
    return Reckoning(idle=bill(estate, Case.IDLE), expected=bill(estate, Case.EXPECTED), worst=bill(estate, Case.WORST))


def break_even(reckoning: Reckoning, loads: Sequence[Load]) -> BreakEven | None:
    """The comparison, for the stated jobs; none where no jobs are stated."""
    minutes = job_minutes(loads)
    if not minutes:
        return None
    return BreakEven(
        fixed_month=reckoning.idle.total,
        own_minute=(reckoning.expected.total - reckoning.idle.total) / minutes,
        hosted_minute=hosted_runner().usd,
    )


def judge(estate: Estate, limits: Sequence[Limit] = ()) -> list[Verdict]:
    """Say what a month costs, hold it against its limits, and against GitHub's runners."""
    rest, missing = part(estate)
    reckoning = reckon(rest)
    kept = [*_kept(rest), *_overloaded(estate)]
    if missing and limits:
        return [*_unpriced(missing, Level.ERROR), *kept]
    if missing:
        # Of a stack without any price there is no month to tell of.
        told = [_told(reckoning, missing)] if reckoning.worst.lines else []
        return [*_unpriced(missing, Level.WARNING), *told, *kept]
    return [
        *(_against(limit, reckoning, {fleet.path for fleet in estate.fleets}) for limit in limits),
        *([] if limits else [_told(reckoning)]),
        *kept,
        *_hosted(estate, reckoning),
    ]


def _unpriced(missing: Sequence[Missing], level: Level) -> Iterator[Verdict]:
    """What has no price, each unknown name once, by the first thing that it is the price of."""
    alike: dict[tuple[str, str], list[Missing]] = {}
    for one in missing:
        alike.setdefault((one.fault.name, one.fault.kind), []).append(one)
    for same in alike.values():
        fault = same[0].fault
        paths = list(dict.fromkeys(one.path for one in same))
        of = "worst month" if all(one.later for one in same) else "month"
        yield _verdict(
            level,
            paths[0],
            f"{fault.name} is not a known {fault.kind}, so "
            + ("the limit cannot be checked" if level is Level.ERROR else f"the {of} is reckoned without it"),
            _priced_instead(fault, level),
            (f"it is the price of {', '.join(paths)}",),
        )


def _priced_instead(fault: UnknownName, level: Level) -> str:
    """The way out of a name without a price: nobody moves to another region for the sake of a table."""
    if "region" in fault.kind:
        table = "gpu/cost/prices_aws.py" if "AWS" in fault.kind else "gpu/cost/prices_gcp.py"
        added = f"add the region's prices to {table}, which has {', '.join(fault.known)}"
        return f"leave budget out, or {added}" if level is Level.ERROR else f"reckon it by hand, or {added}"
    return f"take {fault.nearest}" if fault.nearest else f"take one of {', '.join(fault.known)}"


def _lines(found: Bill) -> tuple[str, ...]:
    dearest = sorted(found.lines, key=lambda line: (-line.month, line.path, line.what))[:_SHOWN]
    return tuple(
        f"{line.path}: {line.what}, {line.quantity.quantize(Decimal('0.01')).normalize():f} x {line.unit_price.unit} "
        f"at {line.unit_price.usd.normalize():f} USD: {dollars(line.month)} ({line.unit_price.source.name}, "
        f"{line.unit_price.source.read})"
        for line in dearest
    )


def _against(limit: Limit, reckoning: Reckoning, fleets: AbstractSet[str]) -> Verdict:
    found = reckoning.of(limit.case)
    reason = f"the {limit.case} month costs {dollars(found.total)}, and {dollars(limit.usd)} are allowed"
    if found.total <= limit.usd:
        return _verdict(Level.OK, limit.path, reason, chain=_lines(found))
    # A control plane cannot be made smaller: machines can, so they are named where there are any.
    path, usd = max(found.by_path().items(), key=lambda item: (item[0] in fleets, item[1]))
    fewer = "take fewer or cheaper machines there, or " if path in fleets else ""
    enough = found.total.to_integral_value(ROUND_CEILING)
    fix = f"{path} is {dollars(usd)} of it: {fewer}raise the limit to {enough}"
    return _verdict(Level.ERROR, limit.path, reason, fix, _lines(found))


def _told(reckoning: Reckoning, missing: Sequence[Missing] = ()) -> Verdict:
    idle, expected, worst = (dollars(reckoning.of(case).total) for case in Case)
    reason = f"a month costs {idle} without a job, {expected} with the stated jobs, {worst} at its worst"
    if missing:
        paths = ", ".join(dict.fromkeys(one.path for one in missing))
        reason += f"; what has no known price is left out of that: {paths}"
    return _verdict(Level.OK, "stack", reason, chain=_lines(reckoning.expected))


def _kept(estate: Estate) -> Iterator[Verdict]:
    """GPU machines that are paid for while no job runs, unless somebody said how long jobs may wait."""
    for fleet in estate.fleets:
        loads = [load for load in estate.loads if load.fleet == fleet.path]
        if any(load.awaited for load in loads) or not any(_has_gpu(name) for name in fleet.machines):
            continue
        awaited = " or ".join(f"{load.path}.queue-target-minutes" for load in loads)
        kept = [
            (f"{fleet.path}.min", fleet.min_size, "node"),
            *((f"{load.path}.arc.min", load.min_runners, "idle runner") for load in loads),
        ]
        for path, number, what in kept:
            if number:
                yield _kept_machines(fleet, path, number, what, awaited)


def _kept_machines(fleet: Fleet, path: str, number: int, what: str, awaited: str) -> Verdict:
    nodes = -(-number // (1 if what == "node" else fleet.jobs_per_node))
    each = node_month(fleet)
    return _verdict(
        Level.WARNING,
        path,
        f"{number} {what}{'s' if number > 1 else ''} kept costs {dollars(nodes * each)} a month, with or without a job",
        "set it to 0" + (f", or state {awaited}, which is what it is kept for" if awaited else ""),
        (f"a {fleet.machines[0]} of {fleet.path} costs {dollars(each)} a month, its disk included",),
    )


def _has_gpu(machine: str) -> bool:
    known = EC2_TYPES.get(machine)
    return known is not None and known.gpu is not None


def _overloaded(estate: Estate) -> Iterator[Verdict]:
    for fleet in estate.fleets:
        loads = [load for load in estate.loads if load.fleet == fleet.path]
        if fleet.max_size is None:
            continue
        needed = job_hours(fleet, loads)
        most = fleet.max_size * HOURS_A_MONTH
        if needed > most:
            yield _too_much(fleet, needed, most)


def _too_much(fleet: Fleet, needed: Decimal, most: int) -> Verdict:
    enough = int((needed / HOURS_A_MONTH).to_integral_value(ROUND_CEILING))
    return _verdict(
        Level.WARNING,
        fleet.limit,
        f"the stated jobs take {needed:.0f} machine hours a month, and at most {most} are to be had",
        f"set it to at least {enough}, or state fewer jobs",
    )


def _hosted(estate: Estate, reckoning: Reckoning) -> Iterator[Verdict]:
    found = break_even(reckoning, estate.loads)
    if found is None:
        return
    minutes = job_minutes(estate.loads)
    theirs = found.hosted_minute * minutes
    from_where = (
        "one's own are never cheaper"
        if found.minutes is None
        else f"one's own are cheaper from {found.minutes:,} minutes a month"
    )
    reason = (
        f"{minutes:,.0f} job minutes a month cost {dollars(reckoning.expected.total)} here and {dollars(theirs)} on "
        f"GitHub's GPU runners; {from_where}"
    )
    chain = (
        f"{dollars(found.fixed_month)} a month are paid without a job",
        f"a minute of a job costs {found.own_minute:.4f} USD beyond that, GitHub's {found.hosted_minute} USD",
        f"GitHub's has 4 vCPU, 28 GB and one T4, and is sold by the whole {Unit.MINUTE}",
    )
    yield _verdict(Level.OK, "runners", reason, chain=chain)


def _verdict(level: Level, subject: str, reason: str, fix: str = "", chain: tuple[str, ...] = ()) -> Verdict:
    return Verdict(check=CHECK, level=level, subject=subject, reason=reason, fix=fix, chain=chain)
