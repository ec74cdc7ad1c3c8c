"""The node groups of the cluster in EKS, and those that the stack file declares."""

from __future__ import annotations

from typing import Any

from components.aws.nodes.gpu_node import POOL_LABEL
from gpu_ci.back_ends.stack import Stack
from gpu_ci.derived import kubernetes
from gpu_ci.knowledge.kubernetes.node_group import NodeGroupFacts
from ops.doctor.world.world import World

Group = dict[str, Any]


def declared(stack: Stack) -> list[NodeGroupFacts]:
    """Return the node groups of the stack file: the system nodes and the GPU pools."""
    system = kubernetes.system_nodes(stack)
    return [*([system] if system is not None else []), *kubernetes.node_groups(stack)]


def actual(world: World) -> list[Group]:
    """Return the node groups that EKS has."""
    cluster = world.stack.cluster_name
    listed = world.aws.ask("eks.list_nodegroups", clusterName=cluster)
    found = [
        world.aws.ask("eks.describe_nodegroup", clusterName=cluster, nodegroupName=name)
        for name in (listed or {}).get("nodegroups", [])
    ]
    return [one["nodegroup"] for one in found if one is not None]


def of(wanted: NodeGroupFacts, groups: list[Group]) -> list[Group]:
    """Return the groups of one declared group. An update that replaces it has two for some time."""
    return [one for one in groups if _key(one) == wanted.name]


def auto_scaling_groups(group: Group) -> list[str]:
    """Return the names of the auto-scaling groups of a node group."""
    return [one["name"] for one in group.get("resources", {}).get("autoScalingGroups", [])]


def _key(group: Group) -> str:
    labels = group.get("labels") or {}
    return str(labels.get(POOL_LABEL) or labels.get("role", ""))
