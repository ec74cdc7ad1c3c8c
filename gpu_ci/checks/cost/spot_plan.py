"""Check whether the jobs of a spot pool or a spot machine survive, and whether they are cheaper there than on demand.

Both costs are those of a finished job: `gpu_ci.knowledge.cost.jobs` has the formula. Prices include the disk.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from gpu_ci.back_ends.offer import Offer, SharedNodes
from gpu_ci.back_ends.stack import Stack
from gpu_ci.checks.cost.machine_groups import job_load, machine_groups, pool_groups
from gpu_ci.knowledge.cost.jobs import hours_with_loss, loss, machine_hours
from gpu_ci.knowledge.cost.month import PricedMachine, priced
from gpu_ci.knowledge.cost.prices import HOURS_A_MONTH, dollars
from gpu_ci.knowledge.machines.groups import MachineGroup, Placement
from gpu_ci.knowledge.verdict import Verdict, ok, warning

CHECK: Final = "spot-plan"

CLOSE: Final = Decimal("1.05")
"""The factor by which spot may cost more than on-demand before it is reported."""
LOSS_BUDGET: Final = 0.10
"""The probability of losing a job of the longest allowed length, above which spot is reported."""


def check(stack: Stack) -> Iterator[Verdict]:
    """Yield one verdict for each runner on a shared pool, or on one machine, whose workload is stated."""
    pools, groups = pool_groups(stack), {group.path: group for group in machine_groups(stack)}
    for name, offer in stack.offers.items():
        if stack.settings.runners[name].workload is None:
            continue
        shared, own = offer.shared, offer.own
        if shared is not None and shared.pools[0] in pools:
            yield from _verdicts(name, offer, pools[shared.pools[0]], stack, to_on_demand=_another_pool(shared))
        elif own is not None and own.standing is not None and own.placements[0].spot:
            yield from _verdicts(name, offer, groups[offer.path], stack, to_on_demand=f"set {own.spot_key}: false")


def _another_pool(shared: SharedNodes) -> str:
    named = f"name an on-demand pool in {shared.pool_key}"
    return f"{named} and remove {shared.fallback_key}" if len(shared.pools) > 1 else named


def _verdicts(name: str, offer: Offer, group: MachineGroup, stack: Stack, *, to_on_demand: str) -> Iterator[Verdict]:
    runner, rate = stack.settings.runners[name], group.interruptions_per_hour
    minutes = job_load(runner, offer, stack.settings).mean_minutes
    on_spot = priced(group, group.types[0], Placement(region=group.expected.region, spot=True))
    on_demand = priced(group, group.types[0], Placement(region=group.expected.region, spot=False))
    if not isinstance(on_spot, PricedMachine) or not isinstance(on_demand, PricedMachine):
        return  # The check on money reports the missing price.
    spot_cost, on_demand_cost = _job(on_spot, minutes, rate, group), _job(on_demand, minutes, 0.0, group)
    costs = f"a finished job costs {dollars(spot_cost)} on spot, and {dollars(on_demand_cost)} on demand"
    chain = (
        f"a spot machine is interrupted {rate:.3g} times an hour",
        f"a job runs {minutes:.0f} minutes on average, and {runner.timeout_minutes} at most",
        f"after a lost attempt another machine runs for {group.minutes_after_loss} minutes without a job",
        f"with lost attempts, {costs}",
    )
    lost = loss(runner.timeout_minutes / 60, rate)
    if group.expected.spot and lost > LOSS_BUDGET:
        longest = math.floor(hours_with_loss(LOSS_BUDGET, rate) * 60)
        shorter = f", or lower {offer.path}.timeout-minutes to {longest}" if longest >= 1 else ""
        job = f"a spot job of {runner.timeout_minutes} minutes"
        reason = f"{job} is interrupted {lost:.0%} of the time and starts again"
        yield warning(CHECK, offer.path, reason, f"{to_on_demand}{shorter}", chain)
    elif group.expected.spot and not on_spot.hour.bound and spot_cost > CLOSE * on_demand_cost:
        yield warning(CHECK, offer.path, costs, to_on_demand, chain)
    else:
        bound = " (no spot price is known; it is at most the on-demand price)" if on_spot.hour.bound else ""
        yield ok(CHECK, offer.path, f"{costs}{bound}", chain)


def _job(machine: PricedMachine, minutes: float, rate: float, group: MachineGroup) -> Decimal:
    hours = machine_hours(minutes, rate, after_loss=group.minutes_after_loss)
    return Decimal(hours) * machine.month / HOURS_A_MONTH
