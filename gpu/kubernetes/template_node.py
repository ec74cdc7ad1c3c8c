"""The node that the Cluster Autoscaler imagines for a group that has none.

A port of cluster-autoscaler 1.35, cloudprovider/aws (`buildNodeFromTemplate`, `extractLabelsFromAsg`,
`extractTaintsFromAsg`, `extractAllocatableResourcesFromAsg`, `getManagedNodegroupInfo`) and utils/taints
(`SanitizeTaints`), its oddities included: it takes what EC2 sells for what pods can have, reckons with the first
instance type and the first zone only, and drops without a word a taint whose tag it cannot read or whose value is
missing. Once a group has had a node, the autoscaler copies that one instead; this is about the first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu.kubernetes.node_group import EFFECTS, ZONE
from gpu.kubernetes.pods import Taint
from gpu.kubernetes.quantities import CPU, GPU, MEMORY, MIB, PODS, BadQuantity, Resources, describe, parse_amount
from gpu.kubernetes.scheduling import Node

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpu.kubernetes.node_group import NodeGroupFacts

PREFIX = "k8s.io/cluster-autoscaler/node-template/"
LABEL_TAG = f"{PREFIX}label/"
TAINT_TAG = f"{PREFIX}taint/"
RESOURCE_TAG = f"{PREFIX}resources/"

_READABLE_TAINT = re.compile(r".*:(?:NoSchedule|NoExecute|PreferNoSchedule)")
_PODS = 110

_PASSING_TAINTS = frozenset(
    {
        "ToBeDeletedByClusterAutoscaler",
        "DeletionCandidateOfClusterAutoscaler",
        "NodeWithImpairedVolumes",
        "cloud.google.com/impending-node-termination",
        "node.cloudprovider.kubernetes.io/shutdown",
        "node.cloudprovider.kubernetes.io/uninitialized",
        *(
            f"node.kubernetes.io/{condition}"
            for condition in (
                "disk-pressure", "memory-pressure", "network-unavailable", "not-ready", "pid-pressure",
                "unreachable", "unschedulable",
            )
        ),
    }
)  # fmt: skip
_PASSING_PREFIXES = tuple(f"{kind}-taint.cluster-autoscaler.kubernetes.io/" for kind in ("ignore", "startup", "status"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Autoscaler:
    """How the Cluster Autoscaler of the stack is set up."""

    describes_node_groups: bool = True
    """Whether it may call `eks:DescribeNodegroup`; without it, it knows only the auto-scaling group's tags."""
    startup_taints: tuple[str, ...] = ()
    """Taint keys of `--startup-taint`: they go by themselves once a node has started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateNode:
    """What the autoscaler believes of a group's next node."""

    node: Node
    chain: tuple[str, ...]
    """Where each belief comes from."""
    dropped: tuple[str, ...]
    """What was stated and is passed over in silence, each with the reason."""


def owned_tags(group: NodeGroupFacts) -> dict[str, str]:
    """The tags that EKS itself puts on the auto-scaling group of a managed node group."""
    return {
        "eks:cluster-name": group.cluster,
        "eks:nodegroup-name": group.name,
        f"kubernetes.io/cluster/{group.cluster}": "owned",
        "k8s.io/cluster-autoscaler/enabled": "true",
        f"k8s.io/cluster-autoscaler/{group.cluster}": "owned",
    }


def template_node(group: NodeGroupFacts, autoscaler: Autoscaler) -> TemplateNode:
    """The node that the autoscaler imagines for the empty group."""
    machine = group.first
    zone = group.zones[0]
    tags = {**owned_tags(group), **group.asg_tags}
    capacity = Resources.of(
        {CPU: machine.vcpus * 1000, MEMORY: machine.memory_mib * MIB, GPU: machine.gpus, PODS: _PODS}
    )
    dropped: list[str] = []
    labels = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": machine.name,
        "topology.kubernetes.io/region": zone[:-1],
        ZONE: zone,
        "topology.ebs.csi.aws.com/zone": zone,
    }
    chain = [
        (
            f"the first instance type is {machine.name}: {machine.vcpus} CPU, "
            f"{describe(MEMORY, machine.memory_mib * MIB)}, {machine.gpus} GPU, nothing taken off, no disk"
        ),
        f"the first zone is {zone}",
    ]
    capacity = _with_resources(capacity, tags, "the auto-scaling group", chain, dropped)
    labels |= labels_of(tags)
    taints = list(_taints_of(tags, dropped))
    answer = _described(group, dropped) if autoscaler.describes_node_groups else None
    if answer is None:
        chain.append("eks:DescribeNodegroup gives nothing, so labels and taints come from the group's tags alone")
    else:
        described_labels, described_taints = answer
        labels |= described_labels
        taints += described_taints
        capacity = _with_resources(capacity, group.tags, "the node group", chain, dropped)
        chain.append("eks:DescribeNodegroup gives the node group's labels (they win over tags), taints and tags")
    kept = tuple(taint for taint in taints if not passing(taint.key, autoscaler))
    chain.append(f"taints: {', '.join(map(str, kept)) or 'none'}")
    return TemplateNode(
        node=Node(labels=labels, taints=kept, allocatable=capacity), chain=tuple(chain), dropped=tuple(dropped)
    )


def labels_of(tags: Mapping[str, str]) -> dict[str, str]:
    """The labels that the tags of an auto-scaling group stand for; EKS's own tags count as labels too."""
    found: dict[str, str] = {}
    for key, value in tags.items():
        parts = key.split(LABEL_TAG)
        if len(parts) == 1:
            parts = key.split("eks:")
        if len(parts) > 1 and parts[1]:
            found[parts[1]] = value
    return found


def _taints_of(tags: Mapping[str, str], dropped: list[str]) -> list[Taint]:
    found: list[Taint] = []
    for key, value in tags.items():
        parts = key.split(TAINT_TAG)
        if len(parts) == 1:
            continue
        if not _READABLE_TAINT.search(value):
            hint = next((f"{value.partition(':')[0]}:{good}" for bad, good in EFFECTS.items() if bad in value), "")
            dropped.append(
                f"the tag {key}={value}: only VALUE:NoSchedule, :NoExecute or :PreferNoSchedule is read"
                + (f"; write {hint}" if hint else "")
            )
            continue
        taint_value, _, effect = value.partition(":")
        found.append(Taint(key=parts[1], value=taint_value, effect=effect))
    return found


def _described(group: NodeGroupFacts, dropped: list[str]) -> tuple[dict[str, str], list[Taint]] | None:
    """What `DescribeNodegroup` adds; nothing at all where one taint's effect is not of the API's own words."""
    labels: dict[str, str] = {
        "eks.amazonaws.com/capacityType": group.capacity_type,
        "eks.amazonaws.com/nodegroup": group.name,
        **({"amiType": group.ami_type} if group.ami_type else {}),
        **({"k8sVersion": group.version} if group.version else {}),
        **group.labels,
    }
    taints: list[Taint] = []
    for taint in group.taints:
        if not taint.value:
            dropped.append(f"the taint {taint.key}:{taint.effect} of the node group: it has no value")
            continue
        if taint.effect not in EFFECTS:
            dropped.append(
                f"every label, taint and tag of the node group: {taint.effect} of {taint.key} is no effect of the API"
            )
            return None
        taints.append(Taint(key=taint.key, value=taint.value, effect=EFFECTS[taint.effect]))
    return labels, taints


def _with_resources(
    capacity: Resources, tags: Mapping[str, str], owner: str, chain: list[str], dropped: list[str]
) -> Resources:
    for key, value in tags.items():
        parts = key.split(RESOURCE_TAG)
        if len(parts) == 1 or not parts[1]:
            continue
        try:
            capacity = capacity.with_amount(parts[1], parse_amount(parts[1], value))
        except BadQuantity:
            dropped.append(f"the tag {key}={value} of {owner}: {value} is no quantity")
        else:
            chain.append(f"a tag of {owner} says that it has {value} {parts[1]}")
    return capacity


def passing(key: str, autoscaler: Autoscaler) -> bool:
    """Whether the autoscaler takes a taint of that key to go by itself, and so leaves it out."""
    return key in _PASSING_TAINTS or key in autoscaler.startup_taints or key.startswith(_PASSING_PREFIXES)
