"""The StorageClass of the cluster's volumes: encrypted gp3, made where the claimant's pod is."""

from __future__ import annotations

import pulumi
import pulumi_kubernetes as k8s
from pulumi import ResourceOptions


class Storage(pulumi.ComponentResource):
    """A gp3 StorageClass over the EBS driver's add-on. EKS has brought no default class since 1.30."""

    def __init__(self, name: str, *, default_class: bool, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:kubernetes:Storage", name, None, opts)
        k8s.storage.v1.StorageClass(
            f"{name}-gp3",
            metadata={
                "name": "gp3",
                "annotations": {"storageclass.kubernetes.io/is-default-class": str(default_class).lower()},
            },
            provisioner="ebs.csi.aws.com",
            parameters={"type": "gp3", "encrypted": "true"},
            reclaim_policy="Delete",
            allow_volume_expansion=True,
            # An EBS volume is bound to a zone: the pod's zone must be known first.
            volume_binding_mode="WaitForFirstConsumer",
            # Parameters cannot be changed, and the name is what claims say.
            opts=ResourceOptions(parent=self, delete_before_replace=True),
        )
        self.register_outputs({})
