"""Check the wait of a job for its first command against the target of its runner, and its runners against their load.

The wait is that of a job that finds nothing running: the first one of the day, and each one that comes after its pool
was scaled to zero. A machine that a schedule or a person starts makes a job wait without a limit while it is off, so
the figures begin with its start.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from gpu_ci.back_ends.offer import Offer, SharedNodes, Standing
from gpu_ci.back_ends.stack import Stack
from gpu_ci.checks.cost.machine_groups import job_load, pool_groups
from gpu_ci.knowledge.cost.jobs import BUSY_HOURS_A_MONTH
from gpu_ci.knowledge.cost.month import PricedMachine, expected_machine
from gpu_ci.knowledge.cost.prices import dollars
from gpu_ci.knowledge.machines.start_up import FAST_PULL_DISK_MIBPS, fast_pull_obstacle, shared_node_steps, total
from gpu_ci.knowledge.verdict import Verdict, error, ok, warning

CHECK: Final = "queue-time"


def check(stack: Stack) -> Iterator[Verdict]:
    """Yield the wait of each runner, parallel pulls without effect, and runners that are too few."""
    for name, offer in stack.offers.items():
        standing = offer.own.standing if offer.own is not None else None
        if standing is not None and not standing.time.by_workflow:
            yield _started(name, offer, standing, stack)
        else:
            yield _wait(name, offer, stack)
        if offer.shared is not None:
            yield from _load(name, offer, offer.shared, stack)
    yield from _fast_pull(stack)


def _wait(name: str, offer: Offer, stack: Stack) -> Verdict:
    wait = total(offer.steps)
    reason = f"a job waits {wait.p50 / 60:.1f} minutes for a runner, and one in 20 more than {wait.p95 / 60:.1f}"
    chain = _steps(offer)
    target = stack.settings.runners[name].queue_target_minutes
    if target is None:
        return ok(CHECK, offer.path, reason, chain)
    if wait.p95 <= target * 60:
        return ok(CHECK, offer.path, f"{reason}, within the target of {target}", chain)
    report = error if wait.p50 > target * 60 else warning
    fix = _fix(offer.shared, target, stack) if offer.shared is not None else ""
    if not fix:
        fix = f"no setting makes it shorter; raise the target to {math.ceil(wait.p95 / 60)}"
    return report(CHECK, f"{offer.path}.queue-target-minutes", f"{reason}, over the target of {target}", fix, chain)


def _started(name: str, offer: Offer, standing: Standing, stack: Stack) -> Verdict:
    """Return the verdict on a machine that a schedule or a person starts."""
    wait, time = total(offer.steps), standing.time
    who = "its schedule" if time.schedule is not None else "someone"
    reason = (
        f"a job waits until {who} starts the machine, then {wait.p50 / 60:.1f} minutes, and one in 20 more than "
        f"{wait.p95 / 60:.1f}"
    )
    chain = _steps(offer)
    if time.idle_minutes:
        chain.append(f"after {time.idle_minutes} minutes without a job the machine stops, until {who} starts it again")
    if stack.settings.runners[name].queue_target_minutes is None:
        return ok(CHECK, offer.path, reason, chain)
    return warning(
        CHECK,
        f"{offer.path}.queue-target-minutes",
        f"{reason}, so the target has no meaning while the machine is off",
        "remove it, or use a runner that starts for each job",
        chain,
    )


def _steps(offer: Offer) -> list[str]:
    """Return the steps of an offer, a line each."""
    return [
        f"{'only once: ' if step in offer.first_steps else ''}{step.name}: {step.p50:.0f} s, "
        f"one in 20 more than {step.p95:.0f} s ({'estimate: ' if step.estimate else ''}{step.source})"
        for step in (*offer.steps, *offer.first_steps)
    ]


def _fix(shared: SharedNodes, target: int, stack: Stack) -> str:
    """Return the cheapest setting that meets the target; empty where there is none."""
    key, settings = shared.pools[0], stack.settings
    pool, path, gpu = settings.pools[key], settings.pool_path(key), key in settings.gpu_pools
    image_gib = settings.images[shared.image].pulled_gib
    if shared.idle_on_gpu:
        return ""
    group = pool_groups(stack).get(key)
    machine = expected_machine(group) if group is not None else None
    node = f"{dollars(machine.month)} a month" if isinstance(machine, PricedMachine) else "no price is known"
    if pool.min:
        node = "no extra cost"
    types = [settings.machines.ec2(one) for one in pool.instance_types]
    fast_pull = gpu and not fast_pull_obstacle(types, pool.disk.throughput)
    changes = {
        f"set {path}.fast-image-pull: true": (0, pool.min, fast_pull),
        f"set {path}.min: 1 ({node})": (0, 1, False),
        f"set {shared.idle_key}: 1 ({node})": (1, 1, False),
    }
    for setting, (idle, min_nodes, parallel) in changes.items():
        steps = shared_node_steps(
            image_gib=image_gib, idle_on_gpu=idle, min_nodes=min_nodes, fast_pull=parallel, gpu=gpu
        )
        if total(steps).p95 <= target * 60:
            return setting
    return ""


def _load(name: str, offer: Offer, shared: SharedNodes, stack: Stack) -> Iterator[Verdict]:
    """Yield a warning where the jobs of the working hours keep more runners busy than there may be."""
    load = job_load(stack.settings.runners[name], offer, stack.settings)
    busy = load.minutes / 60 / BUSY_HOURS_A_MONTH
    if busy >= shared.most:
        yield warning(
            CHECK,
            shared.most_key,
            f"the stated jobs keep {busy:.1f} runners busy in working hours, and the maximum is {shared.most}: "
            "the queue grows all day",
            f"set it to at least {int(busy) + 1}, and {stack.settings.pool_path(shared.pools[0])}.max with it",
            (
                f"{load.jobs_per_month} jobs of {load.mean_minutes:.1f} minutes take {load.minutes / 60:.0f} hours",
                f"a month has {BUSY_HOURS_A_MONTH} working hours",
            ),
        )


def _fast_pull(stack: Stack) -> Iterator[Verdict]:
    """Yield a warning for each pool with `fast-image-pull` that has no effect; nodeadm reports none."""
    for name, pool in stack.settings.gpu_pools.items():
        types, path = [stack.settings.machines.ec2(one) for one in pool.instance_types], f"gpu-pools.{name}"
        obstacle = fast_pull_obstacle(types, pool.disk.throughput)
        if not pool.fast_image_pull or not obstacle:
            continue
        if fast_pull_obstacle(types, FAST_PULL_DISK_MIBPS):
            fix = f"list only types that have it in {path}.instance-types"
        else:
            fix = f"set {path}.disk.throughput: {FAST_PULL_DISK_MIBPS}"
        yield warning(
            CHECK,
            f"{path}.fast-image-pull",
            f"parallel image pulls are no faster on the nodes of {path}: {obstacle}",
            f"{fix}, or remove fast-image-pull",
        )
