"""The node that the Cluster Autoscaler assumes for a group without nodes.

A port of cluster-autoscaler 1.35, cloudprovider/aws (`buildNodeFromTemplate`, `extractLabelsFromAsg`,
`extractTaintsFromAsg`, `extractAllocatableResourcesFromAsg`, `getManagedNodegroupInfo`) and utils/taints
(`SanitizeTaints`), including its quirks: it assumes that pods get everything that EC2 sells, and it computes with the
first instance type and the first zone. It adds a static kube-proxy (`BuildKubeProxy`) to the DaemonSets. The tags of a
pool are derived from its node group, and every taint has a value, so that none is dropped. Once a group has had a node,
the autoscaler copies that node instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from components.aws.nodes.taints import EFFECTS
from components.gpu_names import GPU
from gpu_ci.knowledge.kubernetes.node_group import NodeGroupFacts, machine_labels
from gpu_ci.knowledge.kubernetes.pods import Pod, Taint
from gpu_ci.knowledge.kubernetes.quantities import CPU, MEMORY, MIB, PODS, Resources, describe, parse_amount
from gpu_ci.knowledge.kubernetes.scheduling import Node

PREFIX: Final = "k8s.io/cluster-autoscaler/node-template/"
LABEL_TAG: Final = f"{PREFIX}label/"
TAINT_TAG: Final = f"{PREFIX}taint/"
RESOURCE_TAG: Final = f"{PREFIX}resources/"

_PODS: Final = 110
_KUBE_PROXY: Final = Pod(requests=Resources.of({CPU: 100}))


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateNode:
    """The autoscaler's assumption about a group's next node."""

    node: Node
    pods: tuple[Pod, ...]
    """The pods that it assumes on the node besides the DaemonSets."""
    chain: tuple[str, ...]
    """The source of each assumption."""


def template_node(group: NodeGroupFacts) -> TemplateNode:
    """Return the node that the autoscaler assumes for the empty group."""
    machine, zone = group.first, group.zones[0]
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
        for resource, value in _tagged(tags, RESOURCE_TAG).items():
            capacity = capacity.with_amount(resource, parse_amount(resource, value))
            chain.append(f"a tag of {owner} states {value} {resource}")
    labels = {
        **machine_labels(machine, zone),
        **_tagged(group.asg_tags, LABEL_TAG),
        "eks.amazonaws.com/capacityType": group.capacity_type,
        "eks.amazonaws.com/nodegroup": group.name,
        **({"amiType": group.ami_type} if group.ami_type else {}),
        **({"k8sVersion": group.version} if group.version else {}),
        **group.labels,
    }
    chain.append("eks:DescribeNodegroup returns the node group's labels (they override tags), taints and tags")
    by_tag = {key: value.rpartition(":") for key, value in _tagged(group.asg_tags, TAINT_TAG).items()}
    taints = (
        *(Taint(key=key, value=value, effect=effect) for key, (value, _, effect) in by_tag.items()),
        *(Taint(key=taint.key, value=taint.value, effect=EFFECTS[taint.effect]) for taint in group.taints),
    )
    chain.append(f"taints: {', '.join(map(str, taints)) or 'none'}")
    node = Node(labels=labels, taints=taints, allocatable=capacity)
    return TemplateNode(node=node, pods=(_KUBE_PROXY,), chain=tuple(chain))


def _tagged(tags: Mapping[str, str], prefix: str) -> dict[str, str]:
    """Return the entries that tags with a prefix state."""
    return {key.removeprefix(prefix): value for key, value in tags.items() if key.startswith(prefix)}
