"""Whether a runner's pod fits on every instance type of its pool, once a node has kept its own share.

Owns the comparison and the suggestion. What a node gives is `gpu.kubernetes.allocatable`; labels and taints are
`checks.scale_from_zero`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu.kubernetes.allocatable import node_room, root_disk_for
from gpu.kubernetes.node_group import real_node
from gpu.kubernetes.quantities import (
    CPU,
    EPHEMERAL_STORAGE,
    GIB,
    GPU,
    MEMORY,
    MIB,
    NOTHING,
    PODS,
    SHARED_GPU,
    Resources,
    describe,
    total,
)
from gpu.kubernetes.scheduling import Node, landing, resource_refusals
from gpu.machines import EC2_TYPES
from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpu.kubernetes.daemonsets import DaemonSet
    from gpu.kubernetes.node_group import NodeGroupFacts
    from gpu.kubernetes.pods import Pod
    from gpu.kubernetes.scheduling import Refusal
    from gpu.machines import InstanceType

CHECK = "fit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What one instance type has for a pod."""

    machine: InstanceType
    node: Node
    beside: tuple[DaemonSet, ...]
    """What runs there anyway."""

    @property
    def left(self) -> Resources:
        """What the DaemonSets leave."""
        taken = total(daemonset.pod.requests for daemonset in self.beside)
        return self.node.allocatable - taken.with_amount(PODS, len(self.beside))

    def refuses(self, pod: Pod) -> tuple[Refusal, ...]:
        """The resources that the pod does not find here."""
        return resource_refusals(pod, self.node, others=(daemonset.pod for daemonset in self.beside))

    def copies(self, pod: Pod) -> int:
        """How many such pods find room on one node."""
        wanted = pod.requests.with_amount(PODS, 1)
        return max(0, min(self.left[resource] // amount for resource, amount in wanted.amounts))


def place(group: NodeGroupFacts, machine: InstanceType, daemonsets: Sequence[DaemonSet]) -> Place:
    """A node of that type in the group, with what runs on it."""
    node = real_node(group, machine, zone=group.zones[0])
    return Place(machine=machine, node=node, beside=landing(daemonsets, node))


def fits(
    runner: str,
    pod: Pod,
    group: NodeGroupFacts,
    *,
    daemonsets: Sequence[DaemonSet] = (),
    job: Resources | None = None,
) -> list[Verdict]:
    """Judge one runner's pod on every type of its pool.

    `job` is the part of the pod's requests that the stack file states, where other containers stand beside it: what is
    suggested is for that part.
    """
    places = [place(group, machine, daemonsets) for machine in group.machines]
    refused = {each.machine.name: each.refuses(pod) for each in places}
    short = [each for each in places if refused[each.machine.name]]
    if not short:
        least = min(places, key=lambda each: (each.left[CPU], each.left[MEMORY]))
        reason = (
            f"it fits every type of {group.path}; {least.machine.name} leaves {describe(CPU, least.left[CPU])} and "
            f"{describe(MEMORY, least.left[MEMORY])} for it"
        )
        return [Verdict(check=CHECK, level=Level.OK, subject=runner, reason=reason, chain=_chain(least, group))]
    worst = min(short, key=lambda each: (each.left[CPU], each.left[MEMORY]))
    lacking = list(dict.fromkeys(refusal.subject for each in short for refusal in refused[each.machine.name]))
    roomy = [each.machine.name for each in places if not refused[each.machine.name]]
    others = [each.machine.name for each in short if each is not worst]
    larger = ", ".join(roomy) if roomy else _smallest_that_fits(pod, group, daemonsets)
    ways = (
        _asking_for_less(lacking, short, pod.requests - job if job else NOTHING),
        f"list only {larger} in {group.path}" if larger else None,
        _more_disk(pod, group, short) if EPHEMERAL_STORAGE in lacking else None,
    )
    return [
        Verdict(
            check=CHECK,
            level=Level.ERROR,
            subject=runner,
            reason=f"{worst.machine.name} of {group.path} gives at most "
            f"{_listed(lacking, worst.left)} once the kubelet and {len(worst.beside)} DaemonSets have their share, and "
            f"it asks for {_listed(lacking, pod.requests)}"
            + (f" (too little on {', '.join(others)})" if others else ""),
            fix=", or ".join(filter(None, ways)) or "split the job: no known type with this GPU has the room",
            chain=(*_chain(worst, group), *_belief(pod, group, worst)),
        )
    ]


def _listed(resources: Sequence[str], amounts: Resources) -> str:
    return " and ".join(describe(resource, max(0, amounts[resource])) for resource in resources)


def _asking_for_less(lacking: Sequence[str], short: Sequence[Place], aside: Resources) -> str | None:
    """What would fit on every type that is too small; nothing where that is no job at all."""
    spellings = {
        CPU: ("cpu", 1000, ""), MEMORY: ("memory", GIB, "Gi"), EPHEMERAL_STORAGE: ("disk", GIB, "Gi"),
        GPU: ("gpus", 1, ""), SHARED_GPU: ("gpus", 1, ""),
    }  # fmt: skip
    asked: list[str] = []
    for resource in lacking:
        key, unit, suffix = spellings.get(resource, (resource, 1, ""))
        most = min(each.left[resource] - aside[resource] for each in short) // unit
        if most <= 0:
            return None
        asked.append(f"{key}: {most}{suffix}")
    return f"ask for {' and '.join(asked)}"


def _more_disk(pod: Pod, group: NodeGroupFacts, short: Sequence[Place]) -> str:
    """A larger root disk; where pods live on the instance store, which no key makes larger, the root disk at all."""
    enough = root_disk_for(pod.requests[EPHEMERAL_STORAGE])
    larger = f"give {group.path} a larger disk: {enough}Gi"
    if not (group.nvme_storage and any(each.machine.nvme_gb for each in short)):
        return larger
    out = f"leave {group.path}.fast-image-pull out, so that pods live on the root disk"
    return out if group.disk_gib >= enough else f"{out}, and {larger}"


def _smallest_that_fits(pod: Pod, group: NodeGroupFacts, daemonsets: Sequence[DaemonSet]) -> str | None:
    """The smallest known type with the same GPU on which the pod finds room."""
    candidates = (machine for machine in EC2_TYPES.values() if machine.gpu == group.first.gpu)
    for machine in sorted(candidates, key=lambda one: (one.vcpus, one.memory_mib, one.devices, one.name)):
        if not place(group, machine, daemonsets).refuses(pod):
            return machine.name
    return None


def _chain(here: Place, group: NodeGroupFacts) -> tuple[str, ...]:
    machine = here.machine
    room = node_room(machine, disk_gib=group.disk_gib, nvme_storage=group.nvme_storage, managed=not group.own_image)
    taken = total(daemonset.pod.requests for daemonset in here.beside)
    names = ", ".join(daemonset.name for daemonset in here.beside) or "no DaemonSet"
    return (
        *room.chain,
        (
            f"{machine.name}: {names} takes {describe(CPU, taken[CPU])} and {describe(MEMORY, taken[MEMORY])}, leaving "
            f"{describe(CPU, here.left[CPU])} and {describe(MEMORY, here.left[MEMORY])}"
        ),
    )


def _belief(pod: Pod, group: NodeGroupFacts, here: Place) -> tuple[str, ...]:
    """Whether the autoscaler, which reckons with what EC2 sells, would even so buy nodes for the pod."""
    first = group.first
    if here.machine != first:
        return ()
    sold = here.node.allocatable.with_amount(CPU, first.vcpus * 1000).with_amount(MEMORY, first.memory_mib * MIB)
    if resource_refusals(pod, Node(allocatable=sold), others=(daemonset.pod for daemonset in here.beside)):
        return (f"the autoscaler sees that it does not fit on a {first.name} either: the job waits for ever",)
    return (f"the autoscaler takes all that EC2 sells to be free, so it buys {first.name} after {first.name} in vain",)
