"""A GPU pool: a managed node group that may be empty, with the tags that the autoscaler reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pulumi
import pulumi_aws as aws  # Pulumi reads the annotations of components
from pulumi import Input, Output, ResourceOptions

from components.aws.nodes.bootstrap import own_image_user_data, user_data
from components.aws.nodes.gpu_node import GpuNode, api_taints, autoscaler_tags, node_labels, node_taints
from components.aws.nodes.node_group import (
    PREFIX_LIMIT,
    NodeGroupArgs,
    auto_scaling_group,
    node_group,
    tag_auto_scaling_group,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnImage:
    """An image that is not of EKS, and what its nodes need to join the cluster."""

    ami: Input[str]
    """The AMI."""
    cluster_name: Input[str]
    endpoint: Input[str]
    """The URL of the Kubernetes API."""
    certificate_authority: Input[str]
    """Base64, as EKS returns it."""
    service_range: str
    """Addresses of Kubernetes services."""


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
    image: OwnImage | None = None
    """The image; None for that of EKS."""


class GpuPool(pulumi.ComponentResource):
    """GPU nodes of one kind, from `min` to `max`."""

    node_group: aws.eks.NodeGroup
    auto_scaling_group: Output[str]
    """The name of the auto-scaling group that EKS creates."""

    def __init__(self, name: str, args: GpuPoolArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:GpuPool", name, None, opts)
        child = ResourceOptions(parent=self)
        tags = autoscaler_tags(args.node)
        own = args.image
        self.node_group = node_group(
            name,
            args.nodes,
            prefix=_prefix(args.node.pool, own=own is not None),
            ami_type="AL2023_x86_64_NVIDIA" if own is None else None,
            spot=args.capacity == "spot",
            labels=node_labels(args.node),
            # The default strategy starts additional nodes, and a GPU quota seldom has room for them.
            update={"max_unavailable": 1, "update_strategy": "MINIMAL"},
            child=child,
            user_data=user_data(fast_image_pull=args.fast_image_pull) if own is None else _join(args, own),
            image_id=own.ami if own is not None else None,
            taints=api_taints(args.node),
            tags=tags,
            repair=True,
        )
        self.auto_scaling_group = auto_scaling_group(self.node_group)
        tag_auto_scaling_group(name, self.node_group, tags, child)
        self.register_outputs({"auto_scaling_group": self.auto_scaling_group})


def _prefix(pool: str, *, own: bool) -> str:
    """Return the start of the group's name.

    A change between an image of EKS and another one needs a new group. The provider does not replace a group that
    loses its image variant, so the name does.
    """
    suffix = "-own-" if own else "-"
    return f"{pool[: PREFIX_LIMIT - len(suffix)]}{suffix}"


def _join(args: GpuPoolArgs, own: OwnImage) -> Output[str]:
    """Return the user data of nodes that EKS does not configure."""
    facts: Mapping[str, Input[str]] = {
        "name": own.cluster_name,
        "apiServerEndpoint": own.endpoint,
        "certificateAuthority": own.certificate_authority,
        "cidr": own.service_range,
    }

    def render(cluster: Mapping[str, Any]) -> str:
        return own_image_user_data(
            cluster=cluster,
            labels=node_labels(args.node),
            taints=node_taints(args.node),
            fast_image_pull=args.fast_image_pull,
        )

    return Output.all(**facts).apply(render)
