"""The EKS control plane: its key, its log, its role, and who may administer it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
import pulumi_aws as aws
from pulumi import Input, Output, ResourceOptions

from components.aws.documents import key_policy, service_trust

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from ipaddress import IPv4Network

ADMINISTRATION = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterArgs:
    """What a control plane is made from."""

    cluster_name: str
    """The physical name, which kubeconfig, log group and autoscaler tags repeat; at most 100 characters."""
    account: str
    region: str
    version: str
    """Kubernetes minor version, as `1.35`."""
    subnet_ids: Sequence[Input[str]]
    """Private subnets in at least two zones: EKS never takes others of another zone or network for them."""
    public_ranges: Sequence[IPv4Network]
    """Who may reach the API from outside the VPC; none closes the public endpoint."""
    service_range: IPv4Network
    administrators: Mapping[str, str]
    """A name for each administrator's role, to the role's ARN."""
    log_types: Sequence[str]
    log_retention_days: int
    extended_support: bool
    protect: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """What is needed to speak to a cluster and to join it."""

    name: Output[str]
    arn: Output[str]
    endpoint: Output[str]
    certificate_authority: Output[str]
    """Base64, as EKS gives it."""
    security_group_id: Output[str]
    """The group that EKS makes for control plane and nodes."""


class Cluster(pulumi.ComponentResource):
    """A control plane that nobody owns by having made it."""

    facts: ClusterFacts
    access: Sequence[pulumi.Resource]
    """What lets the administrators in: whoever speaks to the API must come after it, and be gone before it goes."""
    issuer: Output[str]
    """The OpenID Connect issuer of its service accounts."""

    def __init__(self, name: str, args: ClusterArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:Cluster", name, None, opts)
        child = ResourceOptions(parent=self)
        kept = ResourceOptions.merge(child, ResourceOptions(protect=args.protect))
        log_group_name = f"/aws/eks/{args.cluster_name}/cluster"
        key = aws.kms.Key(
            name,
            description=f"Kubernetes secrets and control plane logs of {args.cluster_name}",
            enable_key_rotation=True,
            deletion_window_in_days=30 if args.protect else 7,
            policy=key_policy(
                args.account, f"arn:aws:logs:{args.region}:{args.account}:log-group:{log_group_name}", args.region
            ),
            opts=kept,
        )
        aws.kms.Alias(name, name=f"alias/{args.cluster_name}", target_key_id=key.key_id, opts=child)
        logs = aws.cloudwatch.LogGroup(
            name,
            name=log_group_name,
            retention_in_days=args.log_retention_days,
            kms_key_id=key.arn,
            # EKS writes to a group of exactly this name.
            opts=ResourceOptions.merge(child, ResourceOptions(delete_before_replace=True)),
        )
        role = aws.iam.Role(name, assume_role_policy=service_trust("eks.amazonaws.com"), opts=child)
        policy = aws.iam.RolePolicyAttachment(
            name, role=role.name, policy_arn="arn:aws:iam::aws:policy/AmazonEKSClusterPolicy", opts=child
        )
        cluster = aws.eks.Cluster(
            name,
            name=args.cluster_name,
            role_arn=role.arn,
            version=args.version,
            access_config={"authentication_mode": "API", "bootstrap_cluster_creator_admin_permissions": False},
            bootstrap_self_managed_addons=False,
            enabled_cluster_log_types=list(args.log_types),
            encryption_config={"provider": {"key_arn": key.arn}, "resources": ["secrets"]},
            kubernetes_network_config={"service_ipv4_cidr": str(args.service_range), "ip_family": "ipv4"},
            upgrade_policy={"support_type": "EXTENDED" if args.extended_support else "STANDARD"},
            vpc_config={
                "subnet_ids": list(args.subnet_ids),
                "endpoint_private_access": True,
                "endpoint_public_access": bool(args.public_ranges),
                "public_access_cidrs": [str(allowed) for allowed in args.public_ranges] or None,
            },
            opts=ResourceOptions.merge(
                kept,
                # Without its policy EKS cannot take down its own network interfaces, and the VPC stays; without
                # our log group it makes one that never expires. Neither is an input, so the engine sees neither.
                ResourceOptions(depends_on=[policy, logs], delete_before_replace=True),
            ),
        )
        access: list[pulumi.Resource] = []
        for administrator, principal in args.administrators.items():
            entry = aws.eks.AccessEntry(
                f"{name}-{administrator}",
                cluster_name=cluster.name,
                principal_arn=principal,
                type="STANDARD",
                opts=child,
            )
            access.append(
                aws.eks.AccessPolicyAssociation(
                    f"{name}-{administrator}",
                    cluster_name=cluster.name,
                    principal_arn=entry.principal_arn,
                    policy_arn=ADMINISTRATION,
                    access_scope={"type": "cluster"},
                    opts=child,
                )
            )
        self.facts = ClusterFacts(
            name=cluster.name,
            arn=cluster.arn,
            endpoint=cluster.endpoint,
            certificate_authority=cluster.certificate_authority.apply(lambda authority: authority.data or ""),
            security_group_id=cluster.vpc_config.apply(lambda network: network.cluster_security_group_id or ""),
        )
        self.access = access
        self.issuer = cluster.identities.apply(lambda identities: (identities[0].oidcs or [])[0].issuer or "")
        self.register_outputs({"name": cluster.name, "arn": cluster.arn, "issuer": self.issuer})
