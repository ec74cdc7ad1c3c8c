"""The managed add-ons of a cluster: those that nodes need to join, and those that need nodes to run on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws
from pulumi import Input, ResourceOptions

from components.aws.cluster.add_on import AddOnRole, ManagedAddOn
from components.aws.cluster.workload_role import WorkloadRole, WorkloadRoleArgs


@dataclass(frozen=True, slots=True, kw_only=True)
class AddOnsArgs:
    """The add-ons of a cluster. Each component creates its own part of them."""

    cluster_name: Input[str]
    add_ons: Sequence[ManagedAddOn]
    """Every add-on of the cluster, in the order of creation."""
    after: Sequence[pulumi.Resource] = ()
    """Node groups that exist before add-ons that need nodes. Without an untainted node such an add-on fails."""


class NodeAddOns(pulumi.ComponentResource):
    """Add-ons that a node needs before it can join: its network, its proxy, and the agent of Pod Identity."""

    all: Sequence[pulumi.Resource]

    def __init__(self, name: str, args: AddOnsArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:NodeAddOns", name, None, opts)
        child = ResourceOptions(parent=self)
        self.all = [_add_on(name, add_on, args, child, child) for add_on in args.add_ons if not add_on.needs_nodes]
        self.register_outputs({})


class ClusterAddOns(pulumi.ComponentResource):
    """Add-ons that run on the system nodes: DNS, and the volumes and metrics that the stack file enables."""

    all: Sequence[pulumi.Resource]
    """Resources inside the cluster depend on these: they need DNS and volumes until they are deleted."""

    def __init__(self, name: str, args: AddOnsArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:ClusterAddOns", name, None, opts)
        child = ResourceOptions(parent=self)
        # No input of an add-on comes from the nodes that its pods run on.
        placed = ResourceOptions.merge(child, ResourceOptions(depends_on=list(args.after)))
        self.all = [_add_on(name, add_on, args, child, placed) for add_on in args.add_ons if add_on.needs_nodes]
        self.register_outputs({})


def _add_on(
    name: str, add_on: ManagedAddOn, args: AddOnsArgs, child: ResourceOptions, placed: ResourceOptions
) -> aws.eks.Addon:
    role = _role(name, add_on.role, args, child) if add_on.role else None
    return aws.eks.Addon(
        f"{name}-{add_on.name}",
        cluster_name=args.cluster_name,
        addon_name=add_on.name,
        addon_version=add_on.version,
        resolve_conflicts_on_create="OVERWRITE",
        resolve_conflicts_on_update="OVERWRITE",
        pod_identity_associations=(
            [{"role_arn": role.ready, "service_account": add_on.role.service_account}] if role and add_on.role else None
        ),
        configuration_values=json.dumps(dict(add_on.configuration), sort_keys=True) if add_on.configuration else None,
        opts=placed,
    )


def _role(name: str, role: AddOnRole, args: AddOnsArgs, child: ResourceOptions) -> WorkloadRole:
    return WorkloadRole(
        f"{name}-{role.name}",
        WorkloadRoleArgs(
            cluster_name=args.cluster_name,
            namespace="kube-system",
            service_account=role.service_account,
            managed_policy=role.managed_policy,
            associate=False,
        ),
        child,
    )
