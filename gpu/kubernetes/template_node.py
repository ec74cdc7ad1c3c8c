"""The node that the Cluster Autoscaler assumes for a group without nodes.

A port of cluster-autoscaler 1.35, cloudprovider/aws (`buildNodeFromTemplate`, `extractLabelsFromAsg`,
`extractTaintsFromAsg`, `extractAllocatableResourcesFromAsg`, `getManagedNodegroupInfo`) and utils/taints
(`SanitizeTaints`), including its quirks: it assumes that pods get everything that EC2 sells, it computes with the first
instance type and the first zone, and it silently drops a taint without a value or with an unreadable tag. Once a group
has had a node, the autoscaler copies that node instead.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gpu.kubernetes.node_group import machine_labels
from gpu.kubernetes.pods import Taint
from gpu.kubernetes.quantities import CPU, GPU, MEMORY, MIB, PODS, BadQuantity, Resources, describe, parse_amount
from gpu.kubernetes.scheduling import Node
from gpu.kubernetes.taints import API_EFFECTS, EFFECTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpu.kubernetes.node_group import NodeGroupFacts

PREFIX: Final = "k8s.io/cluster-autoscaler/node-template/"
LABEL_TAG: Final = f"{PREFIX}label/"
TAINT_TAG: Final = f"{PREFIX}taint/"
RESOURCE_TAG: Final = f"{PREFIX}resources/"

_READABLE_TAINT: Final = re.compile(f".*:(?:{'|'.join(API_EFFECTS)})")
_PODS: Final = 110


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateNode:
    """The autoscaler's assumption about a group's next node."""

    node: Node
    chain: tuple[str, ...]
    """The source of each assumption."""
    dropped: tuple[str, ...]
    """Each stated taint or tag that is silently ignored, with the reason."""


def template_node(group: NodeGroupFacts) -> TemplateNode:
    """Return the node that the autoscaler assumes for the empty group."""
    machine, zone = group.first, group.zones[0]
    dropped: list[str] = []
    chain = [
        (
            f"the first instance type is {machine.name}: {machine.vcpus} CPU, "
            f"{describe(MEMORY, machine.memory_mib * MIB)}, {machine.gpus} GPU, with no deduction and no disk"
        ),
        f"the first zone is {zone}",
    ]
    capacity = Resources.of(
        {CPU: machine.vcpus * 1000, MEMORY: machine.memory_mib * MIB, GPU: machine.gpus, PODS: _PODS}
    )
    for owner, tags in (("the Auto Scaling group", group.asg_tags), ("the node group", group.tags)):
        capacity = _with_resources(capacity, tags, owner, chain, dropped)
    labels = {
        **machine_labels(machine, zone),
        **labels_of(group.asg_tags),
        "eks.amazonaws.com/capacityType": group.capacity_type,
        "eks.amazonaws.com/nodegroup": group.name,
        **({"amiType": group.ami_type} if group.ami_type else {}),
        **({"k8sVersion": group.version} if group.version else {}),
        **group.labels,
    }
    chain.append("eks:DescribeNodegroup returns the node group's labels (they override tags), taints and tags")
    taints = (*_taints_of_tags(group.asg_tags, dropped), *_taints_of_group(group, dropped))
    chain.append(f"taints: {', '.join(map(str, taints)) or 'none'}")
    return TemplateNode(
        node=Node(labels=labels, taints=taints, allocatable=capacity), chain=tuple(chain), dropped=tuple(dropped)
    )


def labels_of(tags: Mapping[str, str]) -> dict[str, str]:
    """Return the labels that the tags of an Auto Scaling group state. The prefix may be anywhere in a key."""
    found = {key.split(LABEL_TAG)[1]: value for key, value in tags.items() if LABEL_TAG in key}
    return {key: value for key, value in found.items() if key}


def _taints_of_tags(tags: Mapping[str, str], dropped: list[str]) -> list[Taint]:
    found: list[Taint] = []
    for key, value in tags.items():
        if TAINT_TAG not in key:
            continue
        if not _READABLE_TAINT.search(value):
            hint = next((f"{value.partition(':')[0]}:{good}" for api, good in EFFECTS.items() if api in value), "")
            dropped.append(
                f"the tag {key}={value}: the autoscaler reads only VALUE:NoSchedule, :NoExecute or :PreferNoSchedule"
                + (f"; write {hint}" if hint else "")
            )
            continue
        taint_value, _, effect = value.partition(":")
        found.append(Taint(key=key.split(TAINT_TAG)[1], value=taint_value, effect=effect))
    return found


def _taints_of_group(group: NodeGroupFacts, dropped: list[str]) -> list[Taint]:
    found: list[Taint] = []
    for taint in group.taints:
        if taint.value:
            found.append(Taint(key=taint.key, value=taint.value, effect=EFFECTS[taint.effect]))
        else:
            dropped.append(f"the taint {taint.key}:{taint.effect} of the node group: it has no value")
    return found


def _with_resources(
    capacity: Resources, tags: Mapping[str, str], owner: str, chain: list[str], dropped: list[str]
) -> Resources:
    for key, value in tags.items():
        _, _, resource = key.partition(RESOURCE_TAG)
        if not resource:
            continue
        try:
            capacity = capacity.with_amount(resource, parse_amount(resource, value))
        except BadQuantity:
            dropped.append(f"the tag {key}={value} of {owner}: {value} is not a quantity")
        else:
            chain.append(f"a tag of {owner} states {value} {resource}")
    return capacity
