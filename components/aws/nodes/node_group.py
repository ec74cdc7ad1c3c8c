"""A managed node group with its launch template: a building block of system nodes and GPU pools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_aws as aws
from pulumi import Input, Output, ResourceOptions

from components.aws.cluster.update_reasons import refused_sizes, replaced_nodes
from components.update_guard import refuse_update, warn_of_update

PREFIX_LIMIT: Final = 37
"""The largest prefix of a node group's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """A gp3 root volume."""

    gib: int
    iops: int
    """Operations per second."""
    throughput: int
    """MiB per second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroupArgs:
    """The properties that every node group has."""

    cluster_name: Input[str]
    role_arn: Input[str]
    """The IAM role of the nodes."""
    subnet_ids: Sequence[Input[str]]
    """One private subnet for each zone."""
    ami_release: str
    """Release of the EKS-optimised image, for example `1.35.6-20260714`."""
    version: str
    """Kubernetes minor version, for example `1.35`."""
    instance_types: Sequence[str]
    """EC2 instance types, in order of preference."""
    min: int
    """The smallest number of nodes, and the number after creation."""
    max: int
    """The largest number of nodes."""
    disk: Disk
    title: str
    """The `Name` tag of the instances."""
    tags: Mapping[str, str]
    """Tags of new instances, volumes and network interfaces: the provider's default tags do not reach them."""
    user_tags: Mapping[str, str]
    """Those of the tags that the stack file states. They may change."""
    after: Sequence[pulumi.Resource]
    """The role's policies and the add-ons without which a node stays NotReady."""


def node_group(
    name: str,
    args: NodeGroupArgs,
    *,
    prefix: str,
    ami_type: str | None,
    spot: bool,
    labels: Mapping[str, str],
    update: Mapping[str, Any],
    child: ResourceOptions,
    user_data: Input[str] | None = None,
    image_id: Input[str] | None = None,
    taints: Sequence[Mapping[str, str]] = (),
    tags: Mapping[str, str] | None = None,
    repair: bool = False,
) -> aws.eks.NodeGroup:
    """Declare a node group and its launch template.

    Args:
        name: the logical name of both resources.
        args: the common properties.
        prefix: the start of the group's name. Most changes replace the group, and the new one needs another name.
        ami_type: the EKS image variant; None with `image_id`.
        spot: whether the nodes are spot instances.
        labels: Kubernetes labels.
        update: the number of nodes that EKS updates at a time, and the strategy.
        child: options with the component as the parent.
        user_data: configuration of the node; EKS adds its own, except with `image_id`.
        image_id: an AMI that is not of EKS. EKS then refuses a release and a version.
        taints: taints in the form of the EKS API.
        tags: tags of the node group itself.
        repair: whether EKS replaces unhealthy nodes.

    """
    template = _launch_template(name, args, user_data, image_id, child)
    guards = ResourceOptions.merge(
        refuse_update(f"{name}-sizes", refused_sizes), warn_of_update(f"{name}-nodes", replaced_nodes)
    )
    group = aws.eks.NodeGroup(
        name,
        cluster_name=args.cluster_name,
        node_group_name_prefix=prefix,
        node_role_arn=args.role_arn,
        subnet_ids=list(args.subnet_ids),
        ami_type=ami_type,
        release_version=args.ami_release if image_id is None else None,
        version=args.version if image_id is None else None,
        capacity_type="SPOT" if spot else "ON_DEMAND",
        instance_types=list(args.instance_types),
        scaling_config={"min_size": args.min, "desired_size": args.min, "max_size": args.max},
        labels=dict(labels),
        taints=[{"key": one["key"], "value": one["value"], "effect": one["effect"]} for one in taints] or None,
        tags=tags,
        launch_template={"id": template.id, "version": template.latest_version.apply(str)},
        update_config=aws.eks.NodeGroupUpdateConfigArgs(**update),
        node_repair_config={"enabled": True} if repair else None,
        opts=ResourceOptions.merge(
            ResourceOptions.merge(child, guards),
            ResourceOptions(
                depends_on=list(args.after),
                # The autoscaler changes the number of nodes. An update of `min` or `max` sends the number in the state,
                # so `Pulumi.yaml` requires a refresh first. The engine knows properties by their wire names.
                ignore_changes=["scalingConfig.desiredSize"],
            ),
        ),
    )
    for key, value in args.user_tags.items():
        aws.autoscaling.Tag(
            f"{name}-tag-{key}",
            autoscaling_group_name=auto_scaling_group(group),
            # The launch template keeps its first tags. Where both have a key, an instance gets the value from here.
            tag={"key": key, "value": value, "propagate_at_launch": True},
            opts=child,
        )
    return group


def auto_scaling_group(group: aws.eks.NodeGroup) -> Output[str]:
    """Return the name of the auto-scaling group that EKS creates."""
    return group.resources.apply(lambda resources: (resources[0].autoscaling_groups or [])[0].name or "")


def tag_auto_scaling_group(
    name: str, group: aws.eks.NodeGroup, tags: Mapping[str, str], child: ResourceOptions
) -> None:
    """Declare the tags by which the autoscaler knows the nodes of an empty group. `name` is that of the pool."""
    scaling = auto_scaling_group(group)
    for key, value in tags.items():
        aws.autoscaling.Tag(
            f"{name}-{key.partition('/node-template/')[2]}",
            autoscaling_group_name=scaling,
            tag={"key": key, "value": value, "propagate_at_launch": False},
            opts=child,
        )


def _launch_template(
    name: str,
    args: NodeGroupArgs,
    user_data: Input[str] | None,
    image_id: Input[str] | None,
    child: ResourceOptions,
) -> aws.ec2.LaunchTemplate:
    """Declare a template without a type and an image of EKS. The node group states them; EKS refuses them in both.

    Every update of the template is a new version, with which EKS replaces all nodes. So tags do not update it: they are
    those of its creation.
    """
    tags = {**args.tags, "Name": args.title}
    return aws.ec2.LaunchTemplate(
        name,
        update_default_version=True,
        image_id=image_id,
        user_data=user_data,
        block_device_mappings=[
            {
                "device_name": "/dev/xvda",
                "ebs": {
                    "volume_type": "gp3",
                    "volume_size": args.disk.gib,
                    "iops": args.disk.iops,
                    "throughput": args.disk.throughput,
                    "encrypted": "true",
                    "delete_on_termination": "true",
                },
            }
        ],
        metadata_options={
            "http_endpoint": "enabled",
            "http_tokens": "required",
            # With one hop a pod cannot reach the credentials of the node. Pods get roles through Pod Identity.
            "http_put_response_hop_limit": 1,
            "instance_metadata_tags": "disabled",
        },
        tag_specifications=[
            {"resource_type": kind, "tags": tags} for kind in ("instance", "volume", "network-interface")
        ],
        opts=ResourceOptions.merge(child, ResourceOptions(ignore_changes=["tagSpecifications", "tags", "tagsAll"])),
    )
