"""What may be said of AWS below Kubernetes: account, network, control plane, registries."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from config.section import Section
from config.values import (
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
    Zone,
)

SERVICE_CIDR = IPv4Network("172.20.0.0/16")
"""What EKS gives services by itself."""

RepositoryName = Annotated[
    str,
    Field(min_length=2, max_length=256),
    Matching(
        r"[a-z0-9]+([._/-][a-z0-9]+)*",
        "a repository's name",
        "use lower-case letters and digits, with single dots, hyphens, underscores or slashes between them",
    ),
]
"""A repository of ECR; it may stand in a folder, as in `team/runner-gpu`."""

TagWildcard = Annotated[
    str,
    Matching(
        r"[0-9A-Za-z._*-]{1,128}",
        "a wildcard of tags",
        "use letters, digits, dots, hyphens, underscores and *, as in cache-*",
    ),
]


class AmazonSettings(Section):
    """Whose cloud and where."""

    account: Account
    """The account that everything is made in; another account's credentials are refused by the provider."""
    region: Region


class NetworkSettings(Section):
    """The network that the cluster and its nodes stand in."""

    NEEDS: ClassVar = ("aws",)

    cidr: PrivateNetwork
    """The VPC's range, /16 to /20: every zone's subnets are cut from it by slot."""
    zones: Annotated[Mapping[Zone, Annotated[int, Field(ge=0, le=7)]], Field(min_length=2, max_length=6)]
    """Zone to slot. A slot decides the addresses of a zone's subnets, so a slot that is in use never changes."""
    nat: Literal["single", "per-zone"]
    """One NAT gateway for all zones, or one for each: the price of a gateway against the loss of a zone."""
    reserved: Mapping[Name, Network] = Field(default_factory=dict)
    """Ranges somewhere else (an office, a peered network) that the VPC must not overlap."""


class EndpointSettings(Section):
    """Who can reach the cluster's API. It is always reachable from inside the VPC."""

    public: tuple[Network, ...] = ()
    """Ranges that may reach the API from outside; none closes the public endpoint."""


LogType = Literal["api", "audit", "authenticator", "controllerManager", "scheduler"]


class ClusterSettings(Section):
    """The EKS control plane."""

    NEEDS: ClassVar = ("aws", "network", "system-nodes")

    version: KubernetesVersion
    zones: Annotated[tuple[Zone, ...], Field(min_length=2)]
    """Zones that the control plane stands in. Stated, because EKS never lets a cluster have others."""
    endpoint: EndpointSettings
    administrators: Annotated[Mapping[Name, RoleArn], Field(min_length=1)]
    """Who administers the cluster, the deploying role among them. Nobody gets in by having created it."""
    logs: tuple[LogType, ...] = ("api", "audit", "authenticator", "controllerManager", "scheduler")
    log_retention_days: Literal[1, 3, 5, 7, 14, 30, 60, 90, 120, 180, 365, 400, 545, 731] = 30
    support: Literal["standard", "extended"] = "standard"
    """`extended` keeps an old version running at six times the control plane's price."""
    service_cidr: PrivateNetwork = SERVICE_CIDR
    """Addresses of Kubernetes services; they must not overlap the VPC."""


class RepositorySettings(Section):
    """One ECR repository."""

    NEEDS: ClassVar = ("aws",)

    keep: Positive = 30
    """Images kept; older ones expire."""
    untagged_days: Positive = 3
    """Days after which an image without a tag expires."""
    mutable_tags: tuple[TagWildcard, ...] = ()
    """Wildcards of the tags that may be overwritten (`cache-*`); every other tag is immutable."""
    pull_request_days: Count = 14
    """Days after which images tagged `pr-*` expire; 0 keeps them."""
    force_delete: bool
    """Whether destroying the stack may delete images with the repository; without it, destroying stops here."""
