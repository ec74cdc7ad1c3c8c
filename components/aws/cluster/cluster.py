"""The EKS control plane: its key, its log, its role, and the access of its administrators and viewers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network

import pulumi
import pulumi_aws as aws
from pulumi import Input, Output, ResourceOptions

from components.aws.cluster.update_reasons import refused_subnets
from components.aws.documents import key_policy, service_trust
from components.update_guard import refuse_update

ADMINISTRATION = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
VIEW = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSAdminViewPolicy"
"""Reads every resource, secrets included (Amazon EKS user guide, "Review access policy permissions", 2026). A refresh
also reads the secret with the key of the GitHub App."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterArgs:
    """A control plane."""

    cluster_name: str
    """The physical name. The kubeconfig, the log group and the autoscaler's tags repeat it; at most 100 characters."""
    account: str
    """The AWS account number."""
    region: str
    version: str
    """Kubernetes minor version, for example `1.35`."""
    subnet_ids: Sequence[Input[str]]
    """Private subnets in at least two zones. EKS refuses later changes to subnets of another zone or network."""
    public_ranges: Sequence[IPv4Network]
    """Addresses that may reach the API from outside the VPC; none closes the public endpoint."""
    service_range: IPv4Network
    """Addresses of Kubernetes services. A change replaces the cluster."""
    administrators: Mapping[str, str]
    """A name for each administrator to the ARN of their IAM role."""
    viewers: Mapping[str, str]
    """A name for each viewer to the ARN of their IAM role."""
    log_types: Sequence[str]
    """The control plane logs that are kept, for example `audit`."""
    log_retention_days: int
    """Days after which log events expire."""
    extended_support: bool
    """Whether EKS keeps an old version for six times the price instead of upgrading it."""
    protect: bool
    """Whether Pulumi refuses to delete the cluster and its key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """Values for connecting to a cluster and joining it."""

    name: Output[str]
    """The name of the cluster in EKS."""
    arn: Output[str]
    """The ARN of the cluster."""
    endpoint: Output[str]
    """The URL of the Kubernetes API."""
    certificate_authority: Output[str]
    """Base64, as EKS returns it."""


class Cluster(pulumi.ComponentResource):
    """A control plane. Its creator has no access by default."""

    facts: ClusterFacts
    access: Sequence[pulumi.Resource]
    """The administrators' access. Everything that calls the Kubernetes API depends on it."""
    issuer: Output[str]
    """The OpenID Connect issuer of its service accounts."""

    def __init__(self, name: str, args: ClusterArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:Cluster", name, None, opts)
        child = ResourceOptions(parent=self)
        kept = ResourceOptions.merge(child, ResourceOptions(protect=args.protect))
        log_group_name = f"/aws/eks/{args.cluster_name}/cluster"
        key = _key(name, args, log_group_name, kept)
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
        # Without its policy EKS cannot delete its network interfaces, and the VPC cannot be deleted. Without our log
        # group EKS creates one that never expires. Neither is an input, so the engine sees no dependency.
        ordered = ResourceOptions(depends_on=[policy, logs], delete_before_replace=True)
        guarded = ResourceOptions.merge(ordered, refuse_update(f"{name}-subnets", refused_subnets))
        cluster = _control_plane(name, args, key, role, ResourceOptions.merge(kept, guarded))
        self.access = [
            _access(f"{name}-{administrator}", cluster, principal, ADMINISTRATION, child)
            for administrator, principal in args.administrators.items()
        ]
        for viewer, principal in args.viewers.items():
            _access(f"{name}-{viewer}", cluster, principal, VIEW, child)
        self.facts = ClusterFacts(
            name=cluster.name,
            arn=cluster.arn,
            endpoint=cluster.endpoint,
            certificate_authority=cluster.certificate_authority.apply(lambda authority: authority.data or ""),
        )
        self.issuer = cluster.identities.apply(lambda identities: (identities[0].oidcs or [])[0].issuer or "")
        self.register_outputs({"name": cluster.name, "arn": cluster.arn, "issuer": self.issuer})


def _key(name: str, args: ClusterArgs, log_group_name: str, opts: ResourceOptions) -> aws.kms.Key:
    log_group_arn = f"arn:aws:logs:{args.region}:{args.account}:log-group:{log_group_name}"
    return aws.kms.Key(
        name,
        description=f"Kubernetes secrets and control plane logs of {args.cluster_name}",
        enable_key_rotation=True,
        deletion_window_in_days=30 if args.protect else 7,
        policy=key_policy(args.account, log_group_arn, args.region),
        opts=opts,
    )


def _control_plane(
    name: str, args: ClusterArgs, key: aws.kms.Key, role: aws.iam.Role, opts: ResourceOptions
) -> aws.eks.Cluster:
    return aws.eks.Cluster(
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
        opts=opts,
    )


def _access(
    name: str, cluster: aws.eks.Cluster, principal: str, policy_arn: str, opts: ResourceOptions
) -> aws.eks.AccessPolicyAssociation:
    entry = aws.eks.AccessEntry(name, cluster_name=cluster.name, principal_arn=principal, type="STANDARD", opts=opts)
    return aws.eks.AccessPolicyAssociation(
        name,
        cluster_name=cluster.name,
        principal_arn=entry.principal_arn,
        policy_arn=policy_arn,
        access_scope={"type": "cluster"},
        opts=opts,
    )
