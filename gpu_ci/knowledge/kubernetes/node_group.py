"""The declaration of a managed node group, and the node that really joins the cluster.

The facts are plain data, so that checks can read them from the stack file or from a recorded plan.
`gpu_ci.knowledge.kubernetes.template_node` is the node that the autoscaler assumes for the same group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from components.aws.nodes.taints import EFFECTS, ApiTaint
from components.gpu_names import GPU_PRESENT
from gpu_ci.knowledge.kubernetes.allocatable import node_room
from gpu_ci.knowledge.kubernetes.pods import Taint
from gpu_ci.knowledge.kubernetes.scheduling import Node
from gpu_ci.knowledge.kubernetes.sharing import advertised
from gpu_ci.knowledge.machines import TABLES, Catalogue, InstanceType
from gpu_ci.knowledge.regions import region_of

_LABELS_ITSELF_SINCE: Final = (1, 35)
"""The Kubernetes version from which nodeadm sets `GPU_PRESENT` on a node with an NVIDIA device (EKS AMI, 2026)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroupFacts:
    """A managed node group."""

    path: str
    """The path in the stack file, for example `gpu-pools.t4-spot`."""
    name: str
    instance_types: tuple[str, ...]
    """In order: the autoscaler computes with the first."""
    catalogue: Catalogue = field(default=TABLES, compare=False, repr=False)
    """The catalogue that has their facts."""
    min_size: int
    max_size: int
    capacity_type: str = "ON_DEMAND"
    """`ON_DEMAND` or `SPOT`."""
    zones: tuple[str, ...]
    """At least one, in order: the autoscaler reads the first."""
    disk_gib: int
    """The root disk."""
    nvme_storage: bool = False
    """Whether pods use the instance store (nodeadm's `localStorage: RAID0`)."""
    version: str = ""
    """The Kubernetes version, for example `1.35`; empty where it is unknown."""
    ami_type: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels in the EKS API. Nodes get them."""
    taints: tuple[ApiTaint, ...] = ()
    """Taints in the EKS API. Nodes get them."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """Tags of the node group itself."""
    asg_tags: Mapping[str, str] = field(default_factory=dict)
    """Tags of its Auto Scaling group, without those that EKS adds."""
    shares: int = 1
    """The number of jobs that share one GPU."""

    @property
    def machines(self) -> tuple[InstanceType, ...]:
        """Return the instance types.

        Raises:
            UnknownName: a type is unknown; the error names the nearest known one.

        """
        return tuple(self.catalogue.ec2(name) for name in self.instance_types)

    @property
    def first(self) -> InstanceType:
        """Return the type that the autoscaler computes with."""
        return self.catalogue.ec2(self.instance_types[0])

    @property
    def spot(self) -> bool:
        """Return whether AWS may reclaim its nodes."""
        return self.capacity_type == "SPOT"


def machine_labels(machine: InstanceType, zone: str) -> dict[str, str]:
    """Return the labels that every node of that type in that zone has."""
    return {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": machine.name,
        "topology.kubernetes.io/region": region_of(zone),
        "topology.kubernetes.io/zone": zone,
        "topology.ebs.csi.aws.com/zone": zone,
    }


def real_node(group: NodeGroupFacts, machine: InstanceType, *, zone: str) -> Node:
    """Return a node of the group as it joins the cluster in one of its zones, with the device plugin."""
    labels = {
        **machine_labels(machine, zone),
        "eks.amazonaws.com/nodegroup": group.name,
        "eks.amazonaws.com/capacityType": group.capacity_type,
    }
    if machine.gpu and _version(group.version) >= _LABELS_ITSELF_SINCE:
        labels[GPU_PRESENT] = "true"
    room = node_room(machine, disk_gib=group.disk_gib, nvme_storage=group.nvme_storage)
    return Node(
        labels={**labels, **group.labels},
        taints=tuple(Taint(key=taint.key, value=taint.value, effect=EFFECTS[taint.effect]) for taint in group.taints),
        allocatable=room.allocatable + advertised(machine, group.shares),
    )


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2] if part.isdecimal())
