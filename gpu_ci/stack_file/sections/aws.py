"""Sections of AWS: account, network, control plane, image repositories."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from gpu_ci.stack_file.sections.section import Section
from gpu_ci.stack_file.values.aws import AddOnName, CertificateAuthority, ClusterName, EksEndpoint, VpcId
from gpu_ci.stack_file.values.general import (
    Account,
    Count,
    KubernetesVersion,
    Matching,
    Name,
    Network,
    Positive,
    PrivateNetwork,
    Region,
    RoleArn,
    SubnetId,
    Zone,
    no_boolean,
)
from gpu_ci.stack_file.values.github import Branch, FullName, GitHubId

SERVICE_CIDR = IPv4Network("172.20.0.0/16")
"""The service range that EKS chooses by default."""

RepositoryName = Annotated[
    str,
    Field(min_length=2, max_length=208),
    Matching(
        r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*",
        "a repository's name",
        "use lower-case letters and digits, with dots, hyphens, underscores or slashes between them",
    ),
]
"""An ECR repository, with an optional prefix, as in `team/runner-gpu`.

ECR allows 256 characters, and the name in ECR begins with `gpu-ci-STACK/`."""

TagWildcard = Annotated[
    str,
    Matching(
        r"(?![.-])(?!(.*\*){3})[0-9A-Za-z._*-]{1,128}",
        "a wildcard of tags",
        "use letters, digits, dots, hyphens, underscores and at most two *, as in cache-*",
    ),
]


class AwsSettings(Section):
    """The account and the region."""

    account: Account
    """The account. The provider rejects the credentials of another account."""
    region: Region


RetentionDays = Annotated[
    Literal[
        1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653
    ],
    BeforeValidator(no_boolean),
]  # fmt: skip
"""Retention times that CloudWatch Logs accepts."""


class FlowLogsSettings(Section):
    """A record of every connection that the network accepts or rejects, in CloudWatch Logs."""

    retention_days: RetentionDays = 30


class ExistingNetworkSettings(Section):
    """A VPC that exists. The stack creates, changes and tags nothing of it, and does not look it up."""

    vpc: VpcId
    subnets: Annotated[Mapping[Zone, SubnetId], Field(min_length=2, max_length=6)]
    """Zone to a private subnet with a route to the internet, for the control plane and the nodes."""


class NetworkSettings(Section):
    """The network of the cluster and its nodes: a VPC of the stack, or one that exists."""

    NEEDS: ClassVar = ("aws",)

    cidr: PrivateNetwork
    """The range of the VPC, /16 to /20. The subnets of each zone are parts of it, by slot. The range of an existing VPC
    may have any size."""
    existing: ExistingNetworkSettings | None = None
    """Use an existing VPC. Without it, `zones` and `nat` are required."""
    zones: Annotated[Mapping[Zone, Annotated[int, Field(ge=0, le=7)]], Field(min_length=2, max_length=6)] = Field(
        default_factory=dict
    )
    """Zone to slot. The slot determines the addresses of the zone's subnets; do not change it while it is in use."""
    nat: Literal["single", "per-zone"] | None = None
    """One NAT gateway for all zones, or one for each. The second costs more and survives the loss of a zone."""
    nat_zone: Zone | None = None
    """The zone of the only NAT gateway. Without it, the gateway is in the zone with slot 0. A change replaces the
    gateway and its public address."""
    reserved: Mapping[Name, Network] = Field(default_factory=dict)
    """Other ranges (an office, a peered network) that the VPC must not overlap."""
    flow_logs: FlowLogsSettings | None = None
    """Record the connections of the network. CloudWatch charges by the gigabyte; the cost of the stack includes it."""

    @property
    def subnet_zones(self) -> tuple[str, ...]:
        """The zones with a subnet for nodes."""
        return tuple(self.existing.subnets if self.existing is not None else self.zones)

    @property
    def gateway_zones(self) -> tuple[str, ...]:
        """The zones with a NAT gateway of the stack. Adding a zone moves no gateway."""
        if self.nat == "per-zone":
            return tuple(self.zones)
        if self.nat_zone is not None:
            return (self.nat_zone,)
        return tuple(zone for zone, slot in self.zones.items() if slot == 0)


class EndpointSettings(Section):
    """Access to the cluster's API from outside. It is always reachable from inside the VPC."""

    public: Annotated[tuple[Network, ...], Field(max_length=40)] = ()
    """Ranges that may reach the API from outside. An empty list closes the public endpoint."""


LogType = Literal["api", "audit", "authenticator", "controllerManager", "scheduler"]


class ExistingClusterSettings(Section):
    """An EKS cluster that another tool manages. The stack adds pools and what runs on them."""

    name: ClusterName
    endpoint: EksEndpoint
    """The URL of the Kubernetes API. EKS never changes it."""
    certificate_authority: CertificateAuthority
    """The certificate authority of the API, in base64. EKS never changes it."""
    add_ons: Annotated[tuple[AddOnName, ...], Field(min_length=1)]
    """The add-ons that the cluster has, by the names of EKS, installed by any tool. `cluster-autoscaler` is one that
    finds node groups by their tags. The stack declares none of them."""
    node_role: RoleArn | None = None
    """The role of the pools' nodes. Without it, the stack creates one, which also has the permissions of `vpc-cni`."""


class ClusterSettings(Section):
    """The EKS cluster: one of the stack, or one that exists."""

    NEEDS: ClassVar = ("aws", "network")

    version: KubernetesVersion
    existing: ExistingClusterSettings | None = None
    """Use an existing cluster. Without it, `zones`, `endpoint`, `administrators` and `system-nodes` are required."""
    zones: Annotated[tuple[Zone, ...], Field(min_length=2)] = ()
    """Zones of the control plane. EKS cannot change them later."""
    endpoint: EndpointSettings = EndpointSettings()
    administrators: Annotated[Mapping[Name, RoleArn], Field(min_length=1)] = Field(default_factory=dict)
    """Roles that administer the cluster, the deploying role included. Creating the cluster grants no access."""
    viewers: Mapping[Name, RoleArn] = Field(default_factory=dict)
    """Roles that read every object in the cluster, secrets included, for example the one that looks for drift."""
    logs: tuple[LogType, ...] = ("api", "audit", "authenticator", "controllerManager", "scheduler")
    log_retention_days: RetentionDays = 30
    support: Literal["standard", "extended"] = "standard"
    """`extended` keeps an old version running, at six times the price of the control plane."""
    service_cidr: PrivateNetwork = SERVICE_CIDR
    """Addresses of Kubernetes services. They must not overlap the VPC."""


class PusherSettings(Section):
    """The only GitHub repository whose workflows push images, without a key."""

    repository: FullName
    """Its owner and name, as GitHub spells them."""
    repository_id: GitHubId
    """Its number: `gh api repos/OWNER/NAME --jq .id`."""
    owner_id: GitHubId
    """The number of its owner: `gh api repos/OWNER/NAME --jq .owner.id`."""
    branch: Branch = "main"
    """The protected branch whose jobs push."""


class RepositorySettings(Section):
    """One ECR repository."""

    NEEDS: ClassVar = ("aws",)

    keep: Positive = 30
    """The number of images that are kept; older ones expire."""
    untagged_days: Positive = 3
    """Days after which an image without a tag expires."""
    mutable_tags: Annotated[tuple[TagWildcard, ...], Field(max_length=5)] = ()
    """Wildcards of tags that may be overwritten, as in `cache-*`. Every other tag is immutable."""
    pull_request_days: Count = 14
    """Days after which images tagged `pr-*` expire. 0 keeps them."""
    force_delete: bool
    """Delete the repository with its images when the stack is destroyed. Otherwise the destruction stops there."""
    pushed_by: PusherSettings | None = None
    """The GitHub repository that builds the images. `bootstrap` has created the identity provider that this needs."""
