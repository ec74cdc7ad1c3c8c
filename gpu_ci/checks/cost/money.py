"""Check the cost of a month against the budget, find idle GPU machines, and compare with GitHub's own GPU runners.

A part without a known price is reported. The month is then computed without it, but a budget cannot be checked: an
estimate with a gap makes an expensive stack look cheap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, Decimal
from typing import Final

from gpu_ci.back_ends.offer import Standing
from gpu_ci.back_ends.stack import Stack
from gpu_ci.checks.cost.bill import bill
from gpu_ci.checks.cost.machine_groups import job_loads, machine_groups
from gpu_ci.knowledge.cost.jobs import JobLoad
from gpu_ci.knowledge.cost.month import Bill, Case, PricedMachine, expected_machine, group_hours, job_hours
from gpu_ci.knowledge.cost.prices import HOSTED_RUNNER, HOURS_A_MONTH, NoPrice, Price, dollars
from gpu_ci.knowledge.cost.running import busy_hours, longest_start
from gpu_ci.knowledge.machines.groups import MachineGroup
from gpu_ci.knowledge.regions import Cloud
from gpu_ci.knowledge.verdict import Verdict, error, ok, warning

CHECK: Final = "money"

_SHOWN: Final = 5
"""The items that a verdict lists."""
_BY_HAND: Final = ", and more with starts by hand"
"""A schedule bounds a month, but not the starts of people."""


def check(stack: Stack) -> Iterator[Verdict]:
    """Yield the cost of the month, or one verdict for each limit; idle machines; and too many jobs."""
    loads = job_loads(stack)
    groups = list(machine_groups(stack))
    found = bill(stack)
    limits = _limits(stack)
    standing = {offer.path: offer.own.standing for offer in stack.offers.values() if offer.own is not None}
    yield from _unpriced(found, limited=bool(limits))
    if limits and not found.unpriced:
        for case, usd in limits.items():
            yield _against_limit(found, case, usd, {group.path for group in groups})
    elif not limits and found.total(Case.WORST):
        yield _month(found, _BY_HAND if any(one and one.time.schedule for one in standing.values()) else "")
    for group in groups:
        own = [load for load in loads if load.group == group.path]
        machine = standing.get(group.path)
        if machine is not None:
            yield from _running(group, machine, own)
        else:
            yield from _idle(group, own)
            yield from _overloaded(group, own)
    paths = {group.path for group in groups}
    paid = [load for load in loads if load.group in paths]
    # The figures of both kinds of jobs cannot be separated: they share the cluster.
    if not found.unpriced and all(load.gpu for load in paid):
        yield from _hosted(found, paid)


def _limits(stack: Stack) -> dict[Case, Decimal]:
    budget = stack.settings.budget
    stated = {Case.EXPECTED: budget.expected, Case.WORST: budget.worst} if budget else {}
    return {case: Decimal(usd) for case, usd in stated.items() if usd is not None}


def _unpriced(found: Bill, *, limited: bool) -> Iterator[Verdict]:
    """Yield one verdict for each missing price, on the first part that needs it."""
    for missing, items in found.unpriced.items():
        paths = list(dict.fromkeys(item.path for item in items))
        chain = (f"the price applies to {', '.join(paths)}",)
        reason = f"no price is known for {missing.item}"
        fix = f"add the price to {missing.table}"
        if missing.known:
            fix += f", which has {', '.join(missing.known)}"
        month = "worst month" if all(item.worst_only for item in items) else "month"
        effect = "the budget cannot be checked" if limited else f"the {month} does not include it"
        yield warning(CHECK, paths[0], f"{reason}, so {effect}", f"estimate it yourself, or {fix}", chain)


def _against_limit(found: Bill, case: Case, usd: Decimal, machines: set[str]) -> Verdict:
    total, subject = found.total(case), f"budget.{case}"
    cost = f"the {case} month costs {dollars(total)}"
    if total <= usd:
        return ok(CHECK, subject, f"{cost}, within the limit of {dollars(usd)}", _dearest(found, case))
    # A control plane cannot be made smaller, so machines are named where there are any.
    path, share = max(found.by_path(case).items(), key=lambda part: (part[0] in machines, part[1]))
    fewer = f"use fewer or cheaper machines in {path} ({dollars(share)}), or " if path in machines else ""
    enough = total.to_integral_value(ROUND_CEILING)
    return error(
        CHECK, subject, f"{cost}, over the limit of {dollars(usd)}", f"{fewer}raise the limit to {enough}",
        _dearest(found, case),
    )  # fmt: skip


def _dearest(found: Bill, case: Case) -> list[str]:
    """Return the most expensive items of a month, a line each."""
    return [
        f"{item.path}: {item.what}, {item.quantity.of(case).quantize(Decimal('0.01')).normalize():f} x "
        f"{item.price.unit} at {item.price.usd.normalize():f} USD: {dollars(item.usd(case))} "
        f"({item.price.source.name}, {item.price.source.read})"
        for item in sorted(found.items, key=lambda item: (-item.usd(case), item.path, item.what))[:_SHOWN]
        if isinstance(item.price, Price) and item.usd(case)
    ]


def _month(found: Bill, limit: str) -> Verdict:
    idle, expected, worst = (dollars(found.total(case)) for case in Case)
    reason = f"a month costs {idle} without jobs, {expected} with the stated jobs, {worst} at most{limit}"
    missing = dict.fromkeys(item.path for items in found.unpriced.values() for item in items)
    if missing:
        reason += f"; not included, because no price is known: {', '.join(missing)}"
    return ok(CHECK, "stack", reason, _dearest(found, Case.EXPECTED))


def _idle(group: MachineGroup, loads: Sequence[JobLoad]) -> Iterator[Verdict]:
    """Yield a warning for GPU machines that run without a job, unless a target for the waiting time is the reason."""
    machine = expected_machine(group)
    without_gpu = group.cloud is Cloud.AWS and group.catalogue.ec2(group.types[0]).gpu is None
    if without_gpu or isinstance(machine, NoPrice) or any(load.has_target for load in loads):
        return
    target = " or ".join(f"{load.path}.queue-target-minutes" for load in loads)
    kept = [(f"{group.path}.min", group.min, group.min, "node")]
    kept += [
        (load.idle_key, load.idle, -(-load.idle // group.jobs_per_machine), "runner") for load in loads if load.idle
    ]
    for subject, number, machines, what in kept:
        if number:
            yield warning(
                CHECK,
                subject,
                f"{number} idle {what + ' costs' if number == 1 else what + 's cost'} "
                f"{dollars(machines * machine.month)} a month, with or without jobs",
                "set it to 0" + (f", or state {target} as the reason to keep them" if target else ""),
                (f"a {machine.type} of {group.path} costs {dollars(machine.month)} a month, with its disk",),
            )


def _overloaded(group: MachineGroup, loads: Sequence[JobLoad]) -> Iterator[Verdict]:
    needed, most = job_hours(group, loads), group.max * HOURS_A_MONTH
    if needed > most:
        enough = (needed / HOURS_A_MONTH).to_integral_value(ROUND_CEILING)
        yield warning(
            CHECK,
            group.max_key,
            f"the stated jobs need {needed:.0f} machine hours a month, and at most {most} are available",
            f"set it to at least {enough}, or state fewer jobs",
        )


def _running(group: MachineGroup, machine: Standing, loads: Sequence[JobLoad]) -> Iterator[Verdict]:
    """Yield the hours of a machine that exists between jobs, and a warning where they are too few for the jobs."""
    hours, priced = group_hours(group, loads), expected_machine(group)
    needed = busy_hours(loads, group.expected_rate)
    if needed > hours.worst:
        keys = [key for key in (machine.schedule_key, machine.most_hours_key) if machine.time.schedule and key]
        longer = f"lengthen {' or '.join(keys)}, " if keys else ""
        reason = f"the stated jobs need {needed:.0f} machine hours a month, and at most {hours.worst:.0f} are available"
        most = int(sum(load.jobs_per_month for load in loads) * hours.worst / needed)
        fewer = f"lower {group.path}.workload.jobs-per-month to {most}"
        yield warning(CHECK, group.path, reason, f"{longer}use more runners, or {fewer}")
    longest = Decimal(longest_start(machine.time))
    costs = f", and costs at most {dollars(longest * priced.hour.usd)}" if isinstance(priced, PricedMachine) else ""
    yield ok(
        CHECK,
        group.path,
        f"a month has {hours.idle:.0f} hours without jobs, {hours.expected:.0f} with the stated jobs, "
        f"{hours.worst:.0f} at most{_BY_HAND if machine.time.schedule else ''}",
        (
            f"one start lasts at most {longest.normalize():f} hours{costs}",
            "the disk and the alarms cost the same while the machine is stopped",
        ),
    )


def _hosted(found: Bill, loads: Sequence[JobLoad]) -> Iterator[Verdict]:
    minutes = Decimal(sum(load.minutes for load in loads))
    if not minutes:
        return
    idle, expected = found.total(Case.IDLE), found.total(Case.EXPECTED)
    own_minute = (expected - idle) / minutes
    saved = HOSTED_RUNNER.usd - own_minute
    if saved > 0:
        break_even = (
            f"this stack is cheaper from {int((idle / saved).to_integral_value(ROUND_CEILING)):,} minutes a month"
        )
    else:
        break_even = "this stack is never cheaper"
    yield ok(
        CHECK,
        "runners",
        f"{minutes:,.0f} job minutes a month cost {dollars(expected)} here and {dollars(HOSTED_RUNNER.usd * minutes)} "
        f"on GitHub's GPU runners; {break_even}",
        (
            f"the month without jobs costs {dollars(idle)}",
            f"each job minute costs {own_minute:.4f} USD more; on GitHub's runners it costs {HOSTED_RUNNER.usd} USD",
            "GitHub's runner has 4 vCPUs, 28 GB and one T4; minutes are rounded up",
        ),
    )
