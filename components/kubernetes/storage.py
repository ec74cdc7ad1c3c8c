"""The StorageClass of the cluster: encrypted gp3 volumes in the zone of the pod."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as k8s
from pulumi import ResourceOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageArgs:
    """A StorageClass."""

    default_class: bool
    """Whether volume claims without a class get this one."""


class Storage(pulumi.ComponentResource):
    """A gp3 StorageClass of the EBS driver. Since version 1.30 EKS has no default class."""

    def __init__(self, name: str, args: StorageArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:kubernetes:Storage", name, None, opts)
        k8s.storage.v1.StorageClass(
            f"{name}-gp3",
            metadata={
                "name": "gp3",
                "annotations": {"storageclass.kubernetes.io/is-default-class": str(args.default_class).lower()},
            },
            provisioner="ebs.csi.aws.com",
            parameters={"type": "gp3", "encrypted": "true"},
            reclaim_policy="Delete",
            allow_volume_expansion=True,
            # An EBS volume belongs to a zone, so the zone of the pod must be known first.
            volume_binding_mode="WaitForFirstConsumer",
            # The parameters are immutable, and claims refer to the name.
            opts=ResourceOptions(parent=self, delete_before_replace=True),
        )
        self.register_outputs({})
