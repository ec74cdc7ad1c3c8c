"""The cluster's managed add-ons: those that nodes need to join, and those that need nodes to run on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
import pulumi_aws as aws
from pulumi import Input, ResourceOptions

from components.aws.workload_role import WorkloadRole, WorkloadRoleArgs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CNI_POLICY = "arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy"
EBS_POLICY = "arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"


@dataclass(frozen=True, slots=True, kw_only=True)
class AddOnsArgs:
    """Which add-ons, in which versions."""

    cluster_name: Input[str]
    versions: Mapping[str, str]
    """Add-on to its exact version."""
    after: Sequence[pulumi.Resource] = ()
    """What must stand first. An add-on that finds no untainted node waits until it fails."""


def _add_on(
    name: str,
    add_on: str,
    args: AddOnsArgs,
    opts: ResourceOptions,
    *,
    role: WorkloadRole | None = None,
    service_account: str = "",
    configuration: Mapping[str, object] | None = None,
) -> aws.eks.Addon:
    return aws.eks.Addon(
        f"{name}-{add_on}",
        cluster_name=args.cluster_name,
        addon_name=add_on,
        addon_version=args.versions[add_on],
        resolve_conflicts_on_create="OVERWRITE",
        resolve_conflicts_on_update="OVERWRITE",
        pod_identity_associations=[{"role_arn": role.ready, "service_account": service_account}] if role else None,
        configuration_values=json.dumps(configuration, sort_keys=True) if configuration else None,
        opts=opts,
    )


class NodeAddOns(pulumi.ComponentResource):
    """What a node needs before it can join: its network, its proxy, and the agent that hands out roles."""

    all: Sequence[pulumi.Resource]

    def __init__(self, name: str, args: AddOnsArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:NodeAddOns", name, None, opts)
        child = ResourceOptions(parent=self)
        agent = _add_on(name, "eks-pod-identity-agent", args, child)
        role = WorkloadRole(
            f"{name}-vpc-cni",
            WorkloadRoleArgs(
                cluster_name=args.cluster_name,
                namespace="kube-system",
                service_account="aws-node",
                managed_policy=CNI_POLICY,
                associate=False,
            ),
            child,
        )
        network = _add_on(name, "vpc-cni", args, child, role=role, service_account="aws-node")
        proxy = _add_on(name, "kube-proxy", args, child)
        self.all = (agent, network, proxy)
        self.register_outputs({})


class ClusterAddOns(pulumi.ComponentResource):
    """What runs on the system nodes: DNS always; volumes and metrics where they are asked for."""

    all: Sequence[pulumi.Resource]
    """What is made inside the cluster needs names resolved and volumes bound, to its very end."""

    def __init__(self, name: str, args: AddOnsArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:ClusterAddOns", name, None, opts)
        # The engine sees no edge from an add-on to the nodes that its pods run on.
        child = ResourceOptions(parent=self)
        placed = ResourceOptions.merge(child, ResourceOptions(depends_on=list(args.after)))
        self.all = made = [_add_on(name, "coredns", args, placed)]
        if "metrics-server" in args.versions:
            made.append(_add_on(name, "metrics-server", args, placed))
        if "aws-ebs-csi-driver" in args.versions:
            role = WorkloadRole(
                f"{name}-ebs",
                WorkloadRoleArgs(
                    cluster_name=args.cluster_name,
                    namespace="kube-system",
                    service_account="ebs-csi-controller-sa",
                    managed_policy=EBS_POLICY,
                    associate=False,
                ),
                child,
            )
            made.append(
                _add_on(name, "aws-ebs-csi-driver", args, placed, role=role, service_account="ebs-csi-controller-sa")
            )
        self.register_outputs({})
