"""A CPU pool: a managed node group without GPUs that may be empty, with the tags that the autoscaler reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pulumi
import pulumi_aws as aws  # Pulumi reads the annotations of components
from pulumi import ResourceOptions

from components.aws.nodes.cpu_node import CpuNode, cpu_labels, cpu_tags, cpu_taints
from components.aws.nodes.node_group import PREFIX_LIMIT, NodeGroupArgs, node_group, tag_auto_scaling_group


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuPoolArgs:
    """The nodes of a pool."""

    nodes: NodeGroupArgs
    """The properties that every node group has."""
    node: CpuNode
    """Labels, taints and capacity of one node."""
    capacity: Literal["spot", "on-demand"]
    """The capacity type of the instances."""


class CpuPool(pulumi.ComponentResource):
    """Nodes without GPUs for jobs, from `min` to `max`."""

    node_group: aws.eks.NodeGroup

    def __init__(self, name: str, args: CpuPoolArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:CpuPool", name, None, opts)
        child = ResourceOptions(parent=self)
        tags = cpu_tags(args.node)
        self.node_group = node_group(
            name,
            args.nodes,
            prefix=f"{args.node.pool[: PREFIX_LIMIT - 1]}-",
            ami_type="AL2023_x86_64_STANDARD",
            spot=args.capacity == "spot",
            labels=cpu_labels(args.node),
            # The default strategy starts additional nodes, which count against the quota.
            update={"max_unavailable": 1, "update_strategy": "MINIMAL"},
            child=child,
            taints=cpu_taints(args.node),
            tags=tags,
            repair=True,
        )
        tag_auto_scaling_group(name, self.node_group, tags, child)
        self.register_outputs({"name": self.node_group.node_group_name})
