"""The IAM role of every node, and the system nodes of the cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import pulumi
import pulumi_aws as aws
from pulumi import Output, ResourceOptions

from components.aws.documents import service_trust
from components.aws.nodes.node_group import NodeGroupArgs, node_group

NODE_POLICIES: Final = {
    "worker": "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy",
    "images": "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly",
    "session": "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore",
}
"""The permissions of a node. The network add-on has a role of its own; a shell goes through SSM, not SSH."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRoleArgs:
    """The permissions of the nodes."""

    policies: Mapping[str, str] = field(default_factory=lambda: NODE_POLICIES)
    """A name for each policy to the ARN of an AWS managed policy."""


class NodeRole(pulumi.ComponentResource):
    """The role of the nodes. EKS creates its access entry; a second entry is an error."""

    arn: Output[str]
    policies: Sequence[pulumi.Resource]
    """The policies' attachments. Node groups depend on them: without them a node cannot join or drain."""

    def __init__(self, name: str, args: NodeRoleArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:NodeRole", name, None, opts)
        child = ResourceOptions(parent=self)
        role = aws.iam.Role(name, assume_role_policy=service_trust("ec2.amazonaws.com"), opts=child)
        self.policies = [
            aws.iam.RolePolicyAttachment(f"{name}-{purpose}", role=role.name, policy_arn=policy, opts=child)
            for purpose, policy in args.policies.items()
        ]
        self.arn = role.arn
        self.register_outputs({"arn": self.arn})


class SystemNodes(pulumi.ComponentResource):
    """On-demand nodes without GPUs and taints: DNS and the controllers always have a node to run on."""

    node_group: aws.eks.NodeGroup

    def __init__(self, name: str, args: NodeGroupArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:SystemNodes", name, None, opts)
        self.node_group = node_group(
            name,
            args,
            prefix="system-",
            ami_type="AL2023_x86_64_STANDARD",
            spot=False,
            labels={"role": "system"},
            update={"max_unavailable": 1},
            child=ResourceOptions(parent=self),
        )
        self.register_outputs({"name": self.node_group.node_group_name})
