"""Check a pool, or the machines of one runner, on its own: instance types, Spot and a shared GPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gpu_ci.back_ends.offer import OwnMachines, SharedNodes
from gpu_ci.back_ends.stack import Stack
from gpu_ci.derived import kubernetes
from gpu_ci.knowledge.kubernetes.node_group import NodeGroupFacts
from gpu_ci.knowledge.verdict import Verdict, warning

CHECK: Final = "counts"


def check(stack: Stack) -> Iterator[Verdict]:
    """Check every pool, and the machines of runners that have their own."""
    yield from pool_shapes(kubernetes.node_groups(stack), kubernetes.shared_nodes(stack))
    for offer in stack.offers.values():
        if offer.own is not None:
            yield from own_spot(offer.own)


def pool_shapes(groups: Sequence[NodeGroupFacts], runners: Mapping[str, SharedNodes]) -> Iterator[Verdict]:
    """Check every pool."""
    for group in groups:
        yield from _types(group)
        yield from _spot(group, _fallbacks(group.name, runners))
        yield from _sharing(group)


def _fallbacks(name: str, runners: Mapping[str, SharedNodes]) -> tuple[str, ...]:
    """Return the pools that all users of a pool fall back on; empty where one of them has no fallback."""
    first = [runner for runner in runners.values() if runner.pools[0] == name]
    if any(len(runner.pools) == 1 for runner in first):
        return ()
    return tuple(dict.fromkeys(f"gpu-pools.{pool}" for runner in first for pool in runner.pools[1:]))


def _single(types: int, zones: int) -> list[str]:
    return [what for what, number in (("type", types), ("zone", zones)) if number == 1]


def _add(one: Sequence[str]) -> str:
    return f"add more {' and '.join(f'{what}s' for what in one)}"


def _types(group: NodeGroupFacts) -> Iterator[Verdict]:
    subject, machines, first = f"{group.path}.instance-types", group.machines, group.first
    models = sorted({machine.gpu.slug if machine.gpu else "no GPU" for machine in machines})
    if len(models) > 1:
        reason = f"a job may get any of these GPUs: {', '.join(models)}"
        yield warning(CHECK, subject, reason, "use one pool for each GPU model, unless no test depends on the model")
    odd = [machine.name for machine in machines if machine.devices != first.devices]
    if odd:
        reason = f"the autoscaler assumes the GPUs of {first.name}, but {', '.join(odd)} has a different number"
        yield warning(CHECK, subject, reason, "list types with the same number of GPUs")
    smaller = [
        machine.name for machine in machines if (machine.vcpus < first.vcpus or machine.memory_mib < first.memory_mib)
    ]
    if smaller:
        reason = f"the autoscaler assumes a {first.name}, but a node may be the smaller {', '.join(smaller)}"
        least = min(machines, key=lambda one: (one.vcpus, one.memory_mib)).name
        yield warning(CHECK, subject, reason, f"list {least} first")
    old = sorted({machine.name for machine in machines if machine.gpu and machine.gpu.capability < (7, 5)})
    if old:
        reason = f"CUDA 13 and drivers after 580 do not support the GPU of {', '.join(old)}, and AWS has few of them"
        yield warning(CHECK, subject, reason, "use a type with a newer GPU, or stay on CUDA 12 and driver 580")


def _spot(group: NodeGroupFacts, fallbacks: Sequence[str]) -> Iterator[Verdict]:
    types, zones = len(set(group.instance_types)), len(set(group.zones))
    one = _single(types, zones)
    if not (group.spot and one):
        return
    number = types * zones
    draws = f"{number} spot pools: while they are" if number > 1 else "1 spot pool: while it is"
    then = f"every job waits for a node of {' or '.join(fallbacks)}" if fallbacks else "there are no runners"
    reason = f"spot with one {' and one '.join(one)} uses {draws} empty, {then}"
    fix = _add(one) if fallbacks else f"{_add(one)}, or add an on-demand pool as the fallback of its runners"
    yield warning(CHECK, f"{group.path}.capacity", reason, fix)


def own_spot(own: OwnMachines) -> Iterator[Verdict]:
    """Check the machine types and zones of a runner that only requests spot machines."""
    if own.standing is not None:
        if own.placements[0].spot:
            reason = "one spot machine in one zone: without spot capacity it does not start, and its job is lost"
            yield warning(CHECK, own.spot_key, reason, "set it to false, unless jobs can wait")
        return
    # No zones are stated where the cloud chooses one.
    zones = {zone for placement in own.placements for zone in placement.zones}
    one = _single(len(set(own.types)), len(zones))
    if one and all(placement.spot for placement in own.placements):
        reason = f"spot with one {' and one '.join(one)} and no fallback: without spot capacity jobs get no machine"
        yield warning(CHECK, own.spot_key, reason, f"{_add(one)}, or state [true, false] to fall back to on-demand")


def _sharing(group: NodeGroupFacts) -> Iterator[Verdict]:
    part = sorted({machine.name for machine in group.machines if machine.fractional})
    if part and group.shares > 1:
        reason = f"{', '.join(part)} already has only a part of a GPU"
        yield warning(CHECK, f"{group.path}.sharing", reason, "share a type with a whole GPU")
