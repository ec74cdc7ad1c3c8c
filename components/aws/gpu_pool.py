"""A GPU pool: a managed node group that may be empty, with the tags that the autoscaler reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pulumi
import pulumi_aws as aws
from pulumi import Output, ResourceOptions

from components.aws.bootstrap import user_data
from components.aws.gpu_node import GpuNode, api_taints, autoscaler_tags, node_labels
from components.aws.node_group import NodeGroupArgs, auto_scaling_group, node_group


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuPoolArgs:
    """The nodes of a pool."""

    nodes: NodeGroupArgs
    """The properties that every node group has."""
    node: GpuNode
    """Labels, taints and capacity of one node."""
    capacity: Literal["spot", "on-demand"]
    """The capacity type of the instances."""
    fast_image_pull: bool
    """Whether layers are pulled in parallel onto the NVMe disks of the instance."""


class GpuPool(pulumi.ComponentResource):
    """GPU nodes of one kind, from `min` to `max`."""

    node_group: aws.eks.NodeGroup
    auto_scaling_group: Output[str]
    """The name of the auto-scaling group that EKS creates."""

    def __init__(self, name: str, args: GpuPoolArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:GpuPool", name, None, opts)
        child = ResourceOptions(parent=self)
        tags = autoscaler_tags(args.node)
        self.node_group = node_group(
            name,
            args.nodes,
            prefix=f"{args.node.pool}-",
            ami_type="AL2023_x86_64_NVIDIA",
            spot=args.capacity == "spot",
            labels=node_labels(args.node),
            # The default strategy starts additional nodes, and a GPU quota seldom has room for them.
            update={"max_unavailable": 1, "update_strategy": "MINIMAL"},
            child=child,
            user_data=user_data(fast_image_pull=args.fast_image_pull),
            taints=api_taints(args.node),
            tags=tags,
            repair=True,
        )
        self.auto_scaling_group = auto_scaling_group(self.node_group)
        for key, value in tags.items():
            aws.autoscaling.Tag(
                f"{name}-{key.partition('/node-template/')[2]}",
                autoscaling_group_name=self.auto_scaling_group,
                tag={"key": key, "value": value, "propagate_at_launch": False},
                opts=child,
            )
        self.register_outputs({"auto_scaling_group": self.auto_scaling_group})
