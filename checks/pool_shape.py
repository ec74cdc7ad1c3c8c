"""The shapes of a pool that surprise, whoever uses it: its sizes, its types, Spot, a warm pool, a shared GPU.

Owns what is to be said of one pool alone, and of Spot machines that are started for one job each. Whether numbers of
nodes and of runners go together is `checks.counts`'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from checks.floor import LEAST_GPU_MEMORY_GB, gpu_memory_gb
from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpu.kubernetes.node_group import NodeGroupFacts

CHECK = "counts"

MPS_CAPABLE = "nvidia.com/mps.capable"
"""The label without which the plugin's MPS daemon gets no pod on a node."""


def pool_shape(group: NodeGroupFacts, *, behind: Sequence[str] = ()) -> Iterator[Verdict]:
    """Judge a pool; `behind` are the pools that all its runners fall back on, none where one of them does not."""
    yield from _sizes(group)
    yield from _types(group)
    yield from _spot(group, behind)
    yield from _warm_pool(group)
    yield from _sharing(group)


def own_spot(subject: str, *, types: int, zones: int | None = None) -> list[Verdict]:
    """Judge machines that are started on Spot, with nothing behind; no number of zones where regions are stated."""
    one = _ones(types, zones)
    if not one:
        return []
    reason = f"spot with one {' and one '.join(one)} and nothing behind it: when there is none, jobs get no machine"
    return [_verdict(Level.WARNING, subject, reason, f"{_more(one)}, or state [true, false] to fall back on demand")]


def _ones(types: int, zones: int | None) -> list[str]:
    return [what for what, several in (("type", types), ("zone", zones)) if several == 1]


def _more(one: Sequence[str]) -> str:
    return f"list more {' and '.join(f'{what}s' for what in one)}"


def _verdict(level: Level, subject: str, reason: str, fix: str) -> Verdict:
    return Verdict(check=CHECK, level=level, subject=subject, reason=reason, fix=fix)


def _sizes(group: NodeGroupFacts) -> Iterator[Verdict]:
    if group.max_size < 1:
        yield _verdict(
            Level.ERROR, f"{group.path}.max", "EKS takes no node group with a maximum of 0", "set it to at least 1"
        )
    elif group.min_size > group.max_size:
        yield _verdict(
            Level.ERROR,
            f"{group.path}.min",
            f"min {group.min_size} is more than max {group.max_size}",
            f"set min to at most {group.max_size}",
        )


def _types(group: NodeGroupFacts) -> Iterator[Verdict]:
    machines = group.machines
    first = group.first
    models = sorted({machine.gpu.slug if machine.gpu else "no GPU" for machine in machines})
    if len(models) > 1:
        yield _verdict(
            Level.WARNING,
            f"{group.path}.instance-types",
            f"jobs get whichever GPU there is: {', '.join(models)}",
            "make one pool a GPU model, unless no test looks at the model",
        )
    odd = [machine.name for machine in machines if machine.devices != first.devices]
    if odd:
        yield _verdict(
            Level.WARNING,
            f"{group.path}.instance-types",
            f"{', '.join(odd)} has another number of GPUs than {first.name}, with which alone the autoscaler reckons",
            "list types with the same number of GPUs",
        )
    smaller = [
        machine.name for machine in machines if (machine.vcpus < first.vcpus or machine.memory_mib < first.memory_mib)
    ]
    if smaller:
        yield _verdict(
            Level.WARNING,
            f"{group.path}.instance-types",
            f"the autoscaler reckons with {first.name}, and a node may turn out to be the smaller {', '.join(smaller)}",
            f"list {min(machines, key=lambda one: (one.vcpus, one.memory_mib)).name} first",
        )
    old = sorted({machine.name for machine in machines if machine.gpu and machine.gpu.capability < (7, 5)})
    if old:
        yield _verdict(
            Level.WARNING,
            f"{group.path}.instance-types",
            f"{', '.join(old)} has a GPU that CUDA 13 and driver branches after 580 have dropped, and is hard to get",
            "use g4dn, g5 or g6 types, or stay on CUDA 12 and driver 580",
        )


def _spot(group: NodeGroupFacts, behind: Sequence[str]) -> Iterator[Verdict]:
    types, zones = len(set(group.instance_types)), len(set(group.zones))
    one = _ones(types, zones)
    if not (group.spot and one):
        return
    draws = f"{types * zones} spot pools: when they are" if types * zones > 1 else "1 spot pool: when it is"
    then = f"every job waits for a node of {' or '.join(behind)}" if behind else "there are no runners"
    yield _verdict(
        Level.WARNING,
        f"{group.path}.capacity",
        f"spot with one {' and one '.join(one)} draws on {draws} empty {then}",
        _more(one) if behind else f"{_more(one)}, or let its runners fall back on an on-demand pool",
    )


def _warm_pool(group: NodeGroupFacts) -> Iterator[Verdict]:
    if not group.warm_pool:
        return
    for wrong, why in ((group.own_image, "an image of one's own"), (group.spot, "spot capacity")):
        if wrong:
            yield _verdict(
                Level.ERROR, f"{group.path}.warm-pool", f"EKS makes no warm pool with {why}", "take one of the two away"
            )


def _sharing(group: NodeGroupFacts) -> Iterator[Verdict]:
    sharing = group.sharing
    if sharing is None:
        return
    subject = f"{group.path}.sharing"
    whole = sorted({machine.gpu.slug for machine in group.machines if machine.gpu and not machine.gpu.mig})
    if sharing.mode == "mig" and whole:
        yield _verdict(
            Level.ERROR, subject, f"{', '.join(whole)} cannot be cut into MIG slices", "use time-slicing or mps"
        )
    part = sorted({machine.name for machine in group.machines if machine.fractional})
    if part:
        yield _verdict(
            Level.WARNING, subject, f"{', '.join(part)} is a part of a GPU already", "share a type with a whole GPU"
        )
    if sharing.mode == "mps":
        yield from _memory_shares(group, sharing.replicas)
    if sharing.mode == "mps" and group.labels.get(MPS_CAPABLE) != "true":
        yield _verdict(
            Level.WARNING,
            subject,
            f"MPS needs its daemon on the node, and that goes only where {MPS_CAPABLE} is true",
            f'label {group.path} {MPS_CAPABLE}: "true", or run GPU feature discovery, which sets it',
        )


def _memory_shares(group: NodeGroupFacts, replicas: int) -> Iterator[Verdict]:
    """MPS splits the memory of a GPU evenly; turns do not."""
    least = min(group.machines, key=gpu_memory_gb)
    share = gpu_memory_gb(least) / replicas
    if share < LEAST_GPU_MEMORY_GB:
        enough = int(gpu_memory_gb(least) // LEAST_GPU_MEMORY_GB)
        path = f"{group.path}.sharing"
        yield _verdict(
            Level.WARNING,
            f"{path}.replicas",
            f"each of {replicas} jobs has {share:.1f} GB of the memory of a {least.name}'s GPU, and "
            f"{LEAST_GPU_MEMORY_GB} are the least of use",
            f"set it to {enough}, or share by turns: time-slicing"
            if enough > 1
            else f"leave {path} out, or share by turns: time-slicing",
        )
