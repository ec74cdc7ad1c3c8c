"""What is stated of a managed node group, and the node that it really makes.

Owns the facts that every check of a pool starts from, as plain data, so that they can come from the stack file or from
a recorded plan alike. What the autoscaler believes of the same group is `gpu.kubernetes.template_node`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpu.kubernetes.allocatable import node_room
from gpu.kubernetes.pods import Taint
from gpu.kubernetes.scheduling import Node
from gpu.kubernetes.sharing import advertised
from gpu.machines import ec2_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpu.kubernetes.sharing import Sharing
    from gpu.machines import InstanceType

GPU_PRESENT = "nvidia.com/gpu.present"
"""The label by which NVIDIA's charts know a GPU node."""
ACCELERATOR = "k8s.amazonaws.com/accelerator"
"""The label by which the autoscaler knows that a node is to have a GPU before it is ready."""
ZONE = "topology.kubernetes.io/zone"

_LABELS_ITSELF_SINCE = (1, 35)
"""Kubernetes version from which nodeadm itself labels a node that has an NVIDIA device (EKS AMI, 2026)."""

EFFECTS = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}
"""Taint effects as the EKS API spells them, and as Kubernetes does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiTaint:
    """A taint as the EKS API takes it."""

    key: str
    value: str | None = None
    effect: str
    """`NO_SCHEDULE`, `NO_EXECUTE` or `PREFER_NO_SCHEDULE`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroupFacts:
    """A managed node group as it is declared."""

    path: str
    """Where the stack file states it, as in `gpu-pools.t4-spot`."""
    name: str
    cluster: str
    instance_types: tuple[str, ...]
    """In order: the autoscaler reckons with the first."""
    min_size: int
    max_size: int
    capacity_type: str = "ON_DEMAND"
    """`ON_DEMAND` or `SPOT`."""
    zones: tuple[str, ...]
    """At least one, in order: the autoscaler looks at the first."""
    disk_gib: int
    """The root disk."""
    nvme_storage: bool = False
    """Whether pods live on the instance store (nodeadm's `localStorage: RAID0`)."""
    own_image: bool = False
    """Whether the launch template names an image, so that EKS does not write the user data."""
    version: str = ""
    """The Kubernetes version, as in `1.35`; empty where it is not known."""
    ami_type: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    """The labels of the node group in the EKS API: what nodes get."""
    taints: tuple[ApiTaint, ...] = ()
    """The taints of the node group in the EKS API: what nodes get."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """Tags of the node group itself."""
    asg_tags: Mapping[str, str] = field(default_factory=dict)
    """Tags that were put on its auto-scaling group beside those that EKS puts there."""
    sharing: Sharing | None = None
    warm_pool: bool = False

    @property
    def machines(self) -> tuple[InstanceType, ...]:
        """The instance types; an unknown one is an error that names the nearest."""
        return tuple(ec2_type(name) for name in self.instance_types)

    @property
    def first(self) -> InstanceType:
        """The type that the autoscaler reckons with."""
        return ec2_type(self.instance_types[0])

    @property
    def spot(self) -> bool:
        """Whether its nodes can be taken away."""
        return self.capacity_type == "SPOT"


def real_node(group: NodeGroupFacts, machine: InstanceType, *, zone: str, gpus: bool = True) -> Node:
    """A node of the group as it joins the cluster, in one of its zones.

    `gpus` is whether a device plugin runs there: without one a GPU is nothing that a pod can ask for.
    """
    labels = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": machine.name,
        "topology.kubernetes.io/region": zone[:-1],
        ZONE: zone,
        "topology.ebs.csi.aws.com/zone": zone,
        "eks.amazonaws.com/nodegroup": group.name,
        "eks.amazonaws.com/capacityType": group.capacity_type,
    }
    if machine.gpu and _version(group.version) >= _LABELS_ITSELF_SINCE:
        labels[GPU_PRESENT] = "true"
    room = node_room(
        machine, disk_gib=group.disk_gib, nvme_storage=group.nvme_storage, managed=not group.own_image
    ).allocatable
    return Node(
        labels={**labels, **group.labels},
        taints=tuple(
            Taint(key=taint.key, value=taint.value or "", effect=EFFECTS.get(taint.effect, taint.effect))
            for taint in group.taints
        ),
        allocatable=room + advertised(machine, group.sharing) if gpus else room,
    )


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2] if part.isdecimal())
