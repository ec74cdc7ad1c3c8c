"""The role of every node, and the nodes that the cluster itself needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
import pulumi_aws as aws
from pulumi import Input, Output, ResourceOptions

from components.aws.documents import service_trust
from components.aws.launch import Disk, launch_template

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NODE_POLICIES = {
    "worker": "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy",
    "images": "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly",
    "session": "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore",
}
"""What a node may do. Its network add-on has a role of its own; a shell on it goes through SSM, not SSH."""


class NodeRole(pulumi.ComponentResource):
    """The role that nodes have. EKS makes its access entry; a second one would collide with it."""

    arn: Output[str]
    policies: Sequence[pulumi.Resource]
    """Without them a node cannot join, and a node group taken down after them cannot drain."""

    def __init__(self, name: str, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:NodeRole", name, None, opts)
        child = ResourceOptions(parent=self)
        role = aws.iam.Role(name, assume_role_policy=service_trust("ec2.amazonaws.com"), opts=child)
        self.policies = [
            aws.iam.RolePolicyAttachment(f"{name}-{purpose}", role=role.name, policy_arn=policy, opts=child)
            for purpose, policy in NODE_POLICIES.items()
        ]
        self.arn = role.arn
        self.register_outputs({"arn": self.arn})


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemNodesArgs:
    """What the cluster's own nodes are made from."""

    cluster_name: Input[str]
    role_arn: Input[str]
    subnet_ids: Sequence[Input[str]]
    ami_release: str
    version: str
    instance_types: Sequence[str]
    min: int
    max: int
    disk: Disk
    title: str
    """The instances' `Name`."""
    tags: Mapping[str, str]
    after: Sequence[pulumi.Resource]
    """The role's policies and the add-ons without which a node stays NotReady."""


class SystemNodes(pulumi.ComponentResource):
    """On-demand nodes without a GPU and without a taint, so that DNS always has somewhere to run."""

    node_group: aws.eks.NodeGroup

    def __init__(self, name: str, args: SystemNodesArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:SystemNodes", name, None, opts)
        child = ResourceOptions(parent=self)
        template = launch_template(name, title=args.title, disk=args.disk, tags=args.tags, user_data=None, opts=child)
        self.node_group = aws.eks.NodeGroup(
            name,
            cluster_name=args.cluster_name,
            node_group_name_prefix="system-",
            node_role_arn=args.role_arn,
            subnet_ids=list(args.subnet_ids),
            ami_type="AL2023_x86_64_STANDARD",
            release_version=args.ami_release,
            version=args.version,
            capacity_type="ON_DEMAND",
            instance_types=list(args.instance_types),
            scaling_config={"min_size": args.min, "desired_size": args.min, "max_size": args.max},
            labels={"role": "system"},
            launch_template={"id": template.id, "version": template.latest_version.apply(str)},
            update_config={"max_unavailable": 1},
            opts=ResourceOptions.merge(
                child,
                ResourceOptions(
                    depends_on=list(args.after),
                    # The autoscaler owns the count in between; the engine knows properties by their wire names.
                    ignore_changes=["scalingConfig.desiredSize"],
                ),
            ),
        )
        self.register_outputs({"name": self.node_group.node_group_name})
