"""The control plane that node groups join: one of the stack with its add-ons, or one that exists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
from pulumi import Input, Output

from gpu_ci.back_ends.protocol import ProgramContext
from gpu_ci.derived import kubernetes
from gpu_ci.stack_file.sections.aws import AwsSettings, ClusterSettings, ExistingClusterSettings

if TYPE_CHECKING:
    from components.aws.cluster.add_ons import AddOnsArgs
    from components.aws.cluster.cluster import Cluster, ClusterFacts
    from gpu_ci.program.network import Subnets


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane:
    """A control plane, and what its nodes need to join."""

    facts: ClusterFacts
    role_arn: Input[str]
    """The role of the nodes."""
    joinable: Sequence[pulumi.Resource]
    """The add-ons and the policies of the role without which a node does not join."""
    access: Sequence[pulumi.Resource] = ()
    """The administrators' access that the stack declares."""
    component: Cluster | None = None
    """None for a cluster that exists."""
    add_ons: AddOnsArgs | None = None
    """None for a cluster that exists: its own add-ons are not taken over."""


def control_plane(
    *, context: ProgramContext, account: AwsSettings, stated: ClusterSettings, subnets: Subnets
) -> ControlPlane:
    """Declare a control plane with the add-ons that nodes need, or connect to one that exists."""
    from components.aws.cluster.add_ons import AddOnsArgs, NodeAddOns
    from components.aws.cluster.cluster import Cluster, ClusterArgs
    from components.aws.nodes.nodes import NodeRole, NodeRoleArgs

    if stated.existing is not None:
        return _existing(context=context, account=account, stated=stated.existing)
    settings = context.stack.settings
    cluster = Cluster(
        "cluster",
        ClusterArgs(
            cluster_name=context.stack.cluster_name,
            account=account.account,
            region=account.region,
            version=stated.version,
            subnet_ids=[subnets.control_plane[zone] for zone in stated.zones],
            public_ranges=stated.endpoint.public,
            service_range=stated.service_cidr,
            administrators=stated.administrators,
            viewers=stated.viewers,
            log_types=stated.logs,
            log_retention_days=stated.log_retention_days,
            extended_support=stated.support == "extended",
            protect=settings.stack.protect,
        ),
        context.aws,
    )
    add_ons = AddOnsArgs(
        cluster_name=cluster.facts.name, add_ons=[one.managed(stated.version) for one in kubernetes.add_ons(settings)]
    )
    node_add_ons = NodeAddOns("node-add-ons", add_ons, context.aws)
    role = NodeRole("node-role", NodeRoleArgs(), context.aws)
    return ControlPlane(
        facts=cluster.facts,
        role_arn=role.arn,
        # A node joins only with the network add-on and the policies of its role.
        joinable=[*node_add_ons.all, *role.policies],
        access=cluster.access,
        component=cluster,
        add_ons=add_ons,
    )


def _existing(*, context: ProgramContext, account: AwsSettings, stated: ExistingClusterSettings) -> ControlPlane:
    """Return the facts of a cluster that exists, and declare the role of its nodes unless one is stated."""
    from components.aws.cluster.cluster import ClusterFacts
    from components.aws.nodes.nodes import NODE_POLICIES, NodeRole, NodeRoleArgs

    arn = f"arn:aws:eks:{account.region}:{account.account}:cluster/{stated.name}"
    facts = ClusterFacts(
        name=Output.from_input(stated.name),
        arn=Output.from_input(arn),
        endpoint=Output.from_input(stated.endpoint),
        certificate_authority=Output.from_input(stated.certificate_authority),
    )
    if stated.node_role is not None:
        return ControlPlane(facts=facts, role_arn=stated.node_role, joinable=())
    # The network add-on of the cluster may rely on the role of the nodes.
    policies = {**NODE_POLICIES, "network": "arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy"}
    role = NodeRole("node-role", NodeRoleArgs(policies=policies), context.aws)
    return ControlPlane(facts=facts, role_arn=role.arn, joinable=role.policies)
