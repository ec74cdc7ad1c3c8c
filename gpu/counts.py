"""Whether the numbers of a pool and of its runners go together.

Owns the arithmetic of nodes, GPUs, shares and runners, and the shapes of a pool that surprise: one spot type, types
that differ, an old GPU, a warm pool that EKS will not make. What a share is, is `gpu.sharing`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu.fit import place
from gpu.sharing import gpu_resource
from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpu.daemonsets import DaemonSet
    from gpu.fit import Place
    from gpu.node_group import NodeGroupFacts
    from gpu.pods import Pod

CHECK = "counts"

MPS_CAPABLE = "nvidia.com/mps.capable"
"""The label without which the plugin's MPS daemon gets no pod on a node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerFacts:
    """A runner scale set on a pool."""

    path: str
    """Where the stack file states it, as in `runners.gpu-t4`."""
    pod: Pod
    """What one job takes on a GPU node."""
    min_runners: int
    max_runners: int


def counts(
    group: NodeGroupFacts, runners: Sequence[RunnerFacts], *, daemonsets: Sequence[DaemonSet] = ()
) -> list[Verdict]:
    """Judge a pool together with every runner that names it."""
    places = [place(group, machine, daemonsets) for machine in group.machines]
    found = [
        *_sizes(group),
        *_types(group),
        *_spot(group),
        *_warm_pool(group),
        *_sharing(group),
        *(verdict for runner in runners for verdict in _runner(runner, group, places)),
        *_idle_nodes(group, runners, places),
    ]
    if found:
        return found
    most = sum(runner.max_runners for runner in runners)
    reason = f"{group.max_size} nodes at most for {most} jobs at most"
    return [Verdict(check=CHECK, level=Level.OK, offender=group.path, reason=reason)]


def _verdict(level: Level, offender: str, reason: str, way_out: str, chain: tuple[str, ...] = ()) -> Verdict:
    return Verdict(check=CHECK, level=level, offender=offender, reason=reason, way_out=way_out, chain=chain)


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


def _spot(group: NodeGroupFacts) -> Iterator[Verdict]:
    if not group.spot:
        return
    pools = len(set(group.instance_types)) * len(set(group.zones))
    one = [what for what, several in (("type", group.instance_types), ("zone", group.zones)) if len(set(several)) == 1]
    if one:
        yield _verdict(
            Level.WARNING,
            f"{group.path}.capacity",
            f"spot with one {' and one '.join(one)} draws on {pools} spot pool{'s' if pools > 1 else ''}: when it is "
            "empty there are no runners",
            f"list more {' and '.join(f'{what}s' for what in one)}, or add an on-demand pool to fall back on",
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
    offender = f"{group.path}.sharing"
    whole = sorted({machine.gpu.slug for machine in group.machines if machine.gpu and not machine.gpu.mig})
    if sharing.mode == "mig" and whole:
        yield _verdict(
            Level.ERROR, offender, f"{', '.join(whole)} cannot be cut into MIG slices", "use time-slicing or mps"
        )
    part = sorted({machine.name for machine in group.machines if machine.fractional})
    if part:
        yield _verdict(
            Level.WARNING, offender, f"{', '.join(part)} is a part of a GPU already", "share a type with a whole GPU"
        )
    if sharing.mode == "mps" and group.labels.get(MPS_CAPABLE) != "true":
        yield _verdict(
            Level.WARNING,
            offender,
            f"MPS needs its daemon on the node, and that goes only where {MPS_CAPABLE} is true",
            f'label {group.path} {MPS_CAPABLE}: "true", or run GPU feature discovery, which sets it',
        )


def _runner(runner: RunnerFacts, group: NodeGroupFacts, places: Sequence[Place]) -> Iterator[Verdict]:
    if runner.min_runners > runner.max_runners:
        yield _verdict(
            Level.ERROR,
            runner.path,
            f"min {runner.min_runners} is more than max {runner.max_runners}",
            f"set min to at most {runner.max_runners}",
        )
    resource = gpu_resource(group.sharing)
    asked = runner.pod.requests[resource]
    yield from _shares(runner, group, asked)
    least = min(places, key=lambda each: each.copies(runner.pod))
    copies = least.copies(runner.pod)
    if not copies:
        return
    offered = least.node.allocatable[resource]
    capacity = group.max_size * copies
    chain = (
        f"{least.machine.name} offers {offered} {resource}, and a job asks for {asked}",
        f"{copies} such jobs find room on one node, and {capacity} on {group.max_size}",
    )
    if asked and copies * asked < offered:
        yield _verdict(
            Level.WARNING,
            runner.path,
            f"only {copies * asked} of the {offered} {resource} of a {least.machine.name} can be used: "
            f"{copies} job{'s fill' if copies > 1 else ' fills'} the node",
            "ask for less CPU and memory, or for a number of GPUs that divides the node's",
            chain,
        )
    for number, level, what in (
        (runner.min_runners, Level.ERROR, "idle runners are kept"),
        (runner.max_runners, Level.WARNING, "jobs are taken"),
    ):
        if number > capacity:
            yield _verdict(
                level,
                runner.path,
                f"{number} {what}, and {group.path} has room for {capacity}: the other {number - capacity} wait "
                "as pending pods, and no other pool can take them",
                f"set it to {capacity}, or {group.path}.max to {-(-number // copies)}",
                chain,
            )
            break


def _shares(runner: RunnerFacts, group: NodeGroupFacts, asked: int) -> Iterator[Verdict]:
    if group.sharing is None or asked < 2:
        return
    refused = group.sharing.refuses_several
    yield _verdict(
        Level.ERROR if refused else Level.WARNING,
        runner.path,
        f"it asks for {asked} shares of a GPU, "
        + ("which the device plugin refuses" if refused else "which gives it no more of the GPU than one"),
        "ask for one",
    )


def _idle_nodes(group: NodeGroupFacts, runners: Sequence[RunnerFacts], places: Sequence[Place]) -> Iterator[Verdict]:
    copies = {runner.path: min(each.copies(runner.pod) for each in places) for runner in runners}
    if not all(copies.values()):
        return
    needed = sum(-(-runner.max_runners // copies[runner.path]) for runner in runners)
    if needed < group.max_size:
        yield _verdict(
            Level.WARNING,
            f"{group.path}.max",
            f"up to {group.max_size} nodes, and its runners can use {needed} at most",
            f"set it to {needed}, or raise the runners' max" if needed else f"let a runner name {group.path}",
        )
