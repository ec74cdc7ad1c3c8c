"""How a node's machine is made: an encrypted disk, guarded metadata, tags. A building block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi_aws as aws

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pulumi import ResourceOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """A gp3 root volume."""

    gib: int
    iops: int
    throughput: int
    """MiB/s."""


def launch_template(
    name: str, *, title: str, disk: Disk, tags: Mapping[str, str], user_data: str | None, opts: ResourceOptions
) -> aws.ec2.LaunchTemplate:
    """A launch template without image or type: the node group states those, and EKS refuses them in both."""
    marked = {**tags, "Name": title}
    return aws.ec2.LaunchTemplate(
        name,
        update_default_version=True,
        user_data=user_data,
        block_device_mappings=[
            {
                "device_name": "/dev/xvda",
                "ebs": {
                    "volume_type": "gp3",
                    "volume_size": disk.gib,
                    "iops": disk.iops,
                    "throughput": disk.throughput,
                    "encrypted": "true",
                    "delete_on_termination": "true",
                },
            }
        ],
        metadata_options={
            "http_endpoint": "enabled",
            "http_tokens": "required",
            # One hop: a pod cannot reach the node's own role. Whoever needs a role has Pod Identity.
            "http_put_response_hop_limit": 1,
            "instance_metadata_tags": "disabled",
        },
        # The provider's default tags reach neither instances nor volumes.
        tag_specifications=[
            {"resource_type": kind, "tags": marked} for kind in ("instance", "volume", "network-interface")
        ],
        opts=opts,
    )
