"""Check that a runner's pod fits on every instance type of its pools, and that the disk holds its image.

The kubelet and the DaemonSets take their part of a node first (`gpu_ci.knowledge.kubernetes.allocatable`). The
scheduler ignores the size of images, which are on the same disk as the files of pods. Unpacked, an image takes at least
the size that is pulled; only an image that cannot fit is refused. `gpu_ci.checks.nodes.scale_from_zero` checks labels
and taints.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from components.gpu_names import GPU
from components.kubernetes.gpus.smoke_job import pod_template
from gpu_ci.back_ends.offer import SharedNodes
from gpu_ci.back_ends.stack import Stack
from gpu_ci.derived import kubernetes
from gpu_ci.knowledge.kubernetes.allocatable import node_room, root_disk_for
from gpu_ci.knowledge.kubernetes.daemonsets import DaemonSet
from gpu_ci.knowledge.kubernetes.node_group import NodeGroupFacts, real_node
from gpu_ci.knowledge.kubernetes.pods import Pod, pod_from_template
from gpu_ci.knowledge.kubernetes.quantities import (
    CPU,
    EPHEMERAL_STORAGE,
    GIB,
    MEMORY,
    MIB,
    PODS,
    Resources,
    describe,
    total,
)
from gpu_ci.knowledge.kubernetes.scheduling import Node, Refusal, landing, resource_refusals
from gpu_ci.knowledge.kubernetes.template_node import template_node
from gpu_ci.knowledge.machines import InstanceType
from gpu_ci.knowledge.verdict import Verdict, error, ok
from gpu_ci.stack_file.sections.settings import Settings
from gpu_ci.stack_file.values.general import mebibytes

CHECK: Final = "fit"
_KEYS: Final = {CPU: ("cpu", 1000, ""), MEMORY: ("memory", GIB, "Gi"), EPHEMERAL_STORAGE: ("disk", GIB, "Gi"),
                GPU: ("gpus", 1, "")}  # fmt: skip
"""Resource to the key of `needs`, its unit and its suffix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A node of one instance type with its DaemonSets."""

    machine: InstanceType
    node: Node
    daemonsets: tuple[DaemonSet, ...]

    @property
    def left(self) -> Resources:
        """The resources that the DaemonSets leave."""
        taken = total(daemonset.pod.requests for daemonset in self.daemonsets)
        return self.node.allocatable - taken.with_amount(PODS, len(self.daemonsets))

    def refuses(self, pod: Pod) -> tuple[Refusal, ...]:
        """Return the resources of which the node has too little for the pod."""
        return resource_refusals(pod, self.node, others=(daemonset.pod for daemonset in self.daemonsets))

    def copies(self, pod: Pod) -> int:
        """Return how many such pods fit on one node."""
        wanted = pod.requests.with_amount(PODS, 1)
        return max(0, min(self.left[resource] // amount for resource, amount in wanted.amounts))


def place(group: NodeGroupFacts, machine: InstanceType, daemonsets: Sequence[DaemonSet]) -> Place:
    """Return a node of that type in the group."""
    node = real_node(group, machine, zone=group.zones[0])
    return Place(machine=machine, node=node, daemonsets=landing(daemonsets, node))


def check(stack: Stack) -> Iterator[Verdict]:
    """Check the pod of each runner on each of its pools, then each image whose size is stated."""
    daemonsets = kubernetes.daemonsets(stack.settings)
    groups, runners = kubernetes.node_groups(stack), kubernetes.shared_nodes(stack)
    system = kubernetes.system_nodes(stack)
    uses = [(path, runner, group) for path, runner in runners.items() for group in groups if group.name in runner.pools]
    for path, runner, group in uses:
        yield fits(path, runner.pod, group, daemonsets, image=_image_size(runner, stack.settings))
    pulls = [(runner.image, ImageUse(runner=path, pod=runner.pod, group=group)) for path, runner, group in uses]
    # The container hook copies the files of the runner out of its image, so the node of a separate pod pulls it, too.
    pulls += [
        (runner.image, ImageUse(runner=path, pod=runner.waiting_pod, group=system))
        for path, runner in runners.items()
        if runner.waiting_pod is not None and system is not None
    ]
    if (smoke := stack.settings.smoke_test) is not None:
        pods = {job.pool: pod_from_template(pod_template(job, "")) for job in kubernetes.smoke_jobs(stack.settings)}
        pulls += [
            (smoke.image, ImageUse(runner="smoke-test", pod=pods[one.name], group=one))
            for one in groups
            if one.name in pods
        ]
    for name, image in stack.settings.images.items():
        if image.compressed is not None:
            size, own = mebibytes(image.compressed) * MIB, [use for key, use in pulls if key == name]
            yield from image_fits(f"images.{name}.compressed", size, own)


def _image_size(runner: SharedNodes, settings: Settings) -> int:
    """Return the bytes that a node pulls to start the runner; 0 where the size is not stated."""
    stated = settings.images[runner.image].compressed
    return mebibytes(stated) * MIB if stated else 0


def holds(pod: Pod, group: NodeGroupFacts, daemonsets: Sequence[DaemonSet]) -> bool:
    """Return whether the pod fits on every type of a pool."""
    return not any(place(group, machine, daemonsets).refuses(pod) for machine in group.machines)


def fits(
    runner: str, pod: Pod, group: NodeGroupFacts, daemonsets: Sequence[DaemonSet] = (), *, image: int = 0
) -> Verdict:
    """Check one runner's pod on every type of a pool. The fixes leave room on the disk for `image` bytes."""
    places = [place(group, machine, daemonsets) for machine in group.machines]
    refused = {each.machine.name: each.refuses(pod) for each in places}
    short = [each for each in places if refused[each.machine.name]]
    worst = min(short or places, key=lambda each: (each.left[CPU], each.left[MEMORY]))
    name, left = worst.machine.name, worst.left
    if not short:
        reason = (
            f"it fits every type of {group.path}; "
            f"a {name} has {describe(CPU, left[CPU])} and {describe(MEMORY, left[MEMORY])} for it"
        )
        return ok(CHECK, runner, reason, _chain(worst, group))
    lacking = list(dict.fromkeys(refusal.subject for each in short for refusal in refused[each.machine.name]))
    with_image = replace(pod, requests=pod.requests + Resources.of({EPHEMERAL_STORAGE: image}))
    roomy = [each.machine.name for each in places if not each.refuses(with_image)]
    others = [each.machine.name for each in short if each is not worst]
    larger = ", ".join(roomy) if roomy else _smallest_that_fits(with_image, group, daemonsets)
    fixes = (
        _smaller_request(lacking, short, image),
        f"list only {larger} in {group.path}" if larger else None,
        _more_disk(with_image.requests[EPHEMERAL_STORAGE], group, [each.machine for each in short])
        if lacking == [EPHEMERAL_STORAGE]
        else None,
    )
    also = f" (also too little on {', '.join(others)})" if others else ""
    reason = (
        f"a {name} of {group.path} has at most {_listed(lacking, left)} after the kubelet and "
        f"{len(worst.daemonsets)} DaemonSets, but it requests {_listed(lacking, pod.requests)}{also}"
    )
    fix = ", or ".join(filter(None, fixes)) or "split the job: no known type of this kind is large enough"
    return error(CHECK, runner, reason, fix, (*_chain(worst, group), *_autoscaler_loop(pod, group, worst)))


def _listed(resources: Sequence[str], amounts: Resources) -> str:
    return " and ".join(describe(resource, max(0, amounts[resource])) for resource in resources)


def _smaller_request(lacking: Sequence[str], short: Sequence[Place], image: int) -> str | None:
    """Return the largest request that fits on every type that is too small; None where nothing would be left."""
    requests: list[str] = []
    for resource in lacking:
        key, unit, suffix = _KEYS.get(resource, (resource, 1, ""))
        kept = image if resource == EPHEMERAL_STORAGE else 0
        most = (min(each.left[resource] for each in short) - kept) // unit
        if most <= 0:
            return None
        requests.append(f"{key}: {most}{suffix}")
    return f"request {' and '.join(requests)}"


def _more_disk(wanted: int, group: NodeGroupFacts, short: Iterable[InstanceType]) -> str:
    """Return a larger root disk. An instance store has a fixed size, so pods must leave it first."""
    enough = root_disk_for(wanted)
    larger = f"set {group.path}.disk.size: {enough}Gi"
    if not (group.nvme_storage and any(machine.nvme_gb for machine in short)):
        return larger
    remove = f"remove {group.path}.fast-image-pull, so that pods use the root disk"
    return remove if group.disk_gib >= enough else f"{remove}, and {larger}"


def _smallest_that_fits(pod: Pod, group: NodeGroupFacts, daemonsets: Sequence[DaemonSet]) -> str | None:
    """Return the smallest known type with the same GPU that has room for the pod."""
    candidates = (machine for machine in group.catalogue.ec2_types.values() if machine.gpu == group.first.gpu)
    for machine in sorted(candidates, key=lambda one: (one.vcpus, one.memory_mib, one.devices, one.name)):
        if not place(group, machine, daemonsets).refuses(pod):
            return machine.name
    return None


def _chain(here: Place, group: NodeGroupFacts) -> tuple[str, ...]:
    room = node_room(here.machine, disk_gib=group.disk_gib, nvme_storage=group.nvme_storage)
    taken = total(daemonset.pod.requests for daemonset in here.daemonsets)
    names = ", ".join(daemonset.name for daemonset in here.daemonsets) or "no DaemonSet"
    return (
        *room.chain,
        (
            f"{here.machine.name}: {names} takes {describe(CPU, taken[CPU])} and {describe(MEMORY, taken[MEMORY])}, "
            f"leaving {describe(CPU, here.left[CPU])} and {describe(MEMORY, here.left[MEMORY])}"
        ),
    )


def _autoscaler_loop(pod: Pod, group: NodeGroupFacts, here: Place) -> tuple[str, ...]:
    """Return the autoscaler's reaction: it computes with the resources that EC2 sells."""
    first, assumed = group.first, template_node(group)
    if here.machine != first:
        return ()
    if resource_refusals(pod, assumed.node, others=(*assumed.pods, *(one.pod for one in here.daemonsets))):
        return (f"the autoscaler finds a {first.name} too small as well, so the job waits forever",)
    return (f"the autoscaler assumes that the pod fits, so it starts one useless {first.name} after another",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageUse:
    """A runner that starts from an image, on nodes that it may use."""

    runner: str
    """The path, for example `runners.gpu-t4`."""
    pod: Pod
    group: NodeGroupFacts

    @property
    def requested(self) -> int:
        """Bytes of disk that the job requests for its files."""
        return self.pod.requests[EPHEMERAL_STORAGE]

    def left(self, machine: InstanceType) -> int:
        """Return the bytes of disk for the image on a node of that type."""
        room = node_room(machine, disk_gib=self.group.disk_gib, nvme_storage=self.group.nvme_storage)
        return room.allocatable[EPHEMERAL_STORAGE] - self.requested


def image_fits(path: str, size: int, uses: Sequence[ImageUse]) -> list[Verdict]:
    """Check the pulled size of an image, in bytes, once for all its users; return nothing if it fits."""
    rooms = [(use.left(machine), use, machine) for use in uses for machine in use.group.machines]
    # `fits` reports a job that requests more disk than a node has without any image.
    short = [(left, use, machine) for left, use, machine in rooms if 0 <= left < size]
    if not short:
        return []
    left, use, machine = min(short, key=lambda one: one[0])
    reason = (
        f"the image takes at least {describe(MEMORY, size)}, but a {machine.name} of {use.group.path} has "
        f"{describe(EPHEMERAL_STORAGE, left)} for it"
    )
    if use.requested:
        reason += f" next to the {describe(EPHEMERAL_STORAGE, use.requested)} that {use.runner} requests"
    larger: list[str] = []
    for group in {one.group.path: one.group for _, one, _ in short}.values():
        here = [(one.requested, machine) for _, one, machine in short if one.group == group]
        larger.append(_more_disk(size + max(requested for requested, _ in here), group, [on for _, on in here]))
    return [error(CHECK, path, reason, f"make the image smaller, or {', and '.join(larger)}")]
