"""A GPU pool: a managed node group that may be empty, and what the autoscaler must know to fill it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pulumi
import pulumi_aws as aws
from pulumi import Input, Output, ResourceOptions

from components.aws.bootstrap import user_data
from components.aws.gpu_node import GpuNode, api_taints, autoscaler_tags, node_labels
from components.aws.launch import Disk, launch_template

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuPoolArgs:
    """What a pool is made from."""

    cluster_name: Input[str]
    role_arn: Input[str]
    subnet_ids: Sequence[Input[str]]
    """One private subnet for each zone the pool may launch in."""
    ami_release: str
    version: str
    instance_types: Sequence[str]
    capacity: Literal["spot", "on-demand"]
    min: int
    max: int
    disk: Disk
    node: GpuNode
    fast_image_pull: bool
    title: str
    """The instances' `Name`."""
    tags: Mapping[str, str]
    after: Sequence[pulumi.Resource]
    """The role's policies and the add-ons without which a node stays NotReady."""


class GpuPool(pulumi.ComponentResource):
    """GPU nodes of one kind, from none to `max`."""

    node_group: aws.eks.NodeGroup
    auto_scaling_group: Output[str]

    def __init__(self, name: str, args: GpuPoolArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:GpuPool", name, None, opts)
        child = ResourceOptions(parent=self)
        template = launch_template(
            name,
            title=args.title,
            disk=args.disk,
            tags=args.tags,
            user_data=user_data(fast_image_pull=args.fast_image_pull),
            opts=child,
        )
        marks = autoscaler_tags(args.node)
        self.node_group = aws.eks.NodeGroup(
            name,
            cluster_name=args.cluster_name,
            # Most properties replace the group; under a fixed name the new one could not stand beside the old.
            node_group_name_prefix=f"{args.node.pool}-",
            node_role_arn=args.role_arn,
            subnet_ids=list(args.subnet_ids),
            ami_type="AL2023_x86_64_NVIDIA",
            release_version=args.ami_release,
            version=args.version,
            capacity_type="SPOT" if args.capacity == "spot" else "ON_DEMAND",
            instance_types=list(args.instance_types),
            scaling_config={"min_size": args.min, "desired_size": args.min, "max_size": args.max},
            labels=node_labels(args.node),
            taints=[
                {"key": taint["key"], "value": taint["value"], "effect": taint["effect"]}
                for taint in api_taints(args.node)
            ],
            tags=marks,
            launch_template={"id": template.id, "version": template.latest_version.apply(str)},
            # The default starts more nodes than there were, and a GPU quota seldom has room for them.
            update_config={"max_unavailable": 1, "update_strategy": "MINIMAL"},
            node_repair_config={"enabled": True},
            opts=ResourceOptions.merge(
                child,
                ResourceOptions(
                    depends_on=list(args.after),
                    # The autoscaler owns the count in between; the engine knows properties by their wire names.
                    ignore_changes=["scalingConfig.desiredSize"],
                ),
            ),
        )
        self.auto_scaling_group = self.node_group.resources.apply(
            lambda resources: (resources[0].autoscaling_groups or [])[0].name or ""
        )
        for key, value in marks.items():
            aws.autoscaling.Tag(
                f"{name}-{key.partition('/node-template/')[2]}",
                autoscaling_group_name=self.auto_scaling_group,
                tag={"key": key, "value": value, "propagate_at_launch": False},
                opts=child,
            )
        self.register_outputs({"auto_scaling_group": self.auto_scaling_group})
