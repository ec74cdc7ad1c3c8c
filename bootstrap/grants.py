"""Permissions on AWS before the stack is known, and the policy documents for one stack. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

PATH: Final = "/gpu-ci-bootstrap/"
"""The path of the roles and policies of pipelines, which the names of a stack cannot match."""

ROLE_NAMES: Final = (
    "autoscaler",
    "cluster",
    "cluster-add-ons-ebs",
    "ec2-image*",
    "eks-image*",
    "flow-logs",
    "node-add-ons-vpc-cni",
    "node-role",
    "start-*",
    "vm-*",
)
"""The logical names of the stack's roles and instance profiles. Pulumi appends seven hexadecimal digits."""

MANAGED: Final = (
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonEKSClusterPolicy",
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKS_CNI_Policy",
    "AmazonSSMManagedInstanceCore",
    "EC2InstanceProfileForImageBuilder",
    "service-role/AmazonEBSCSIDriverPolicy",
    "service-role/EC2ImageBuilderLifecycleExecutionPolicy",
)
"""The managed policies of AWS that the stack attaches to its roles."""
_POLICIES: Final = [f"arn:aws:iam::aws:policy/{name}" for name in MANAGED]

SERVICES: Final = (
    "ec2.amazonaws.com",
    "eks.amazonaws.com",
    "imagebuilder.amazonaws.com",
    "lambda.amazonaws.com",
    "pods.eks.amazonaws.com",
    "scheduler.amazonaws.com",
    "vpc-flow-logs.amazonaws.com",
)
"""The services to which the stack passes its roles."""

LINKED: Final = (
    "autoscaling.amazonaws.com",
    "eks-nodegroup.amazonaws.com",
    "eks.amazonaws.com",
    "imagebuilder.amazonaws.com",
    "spot.amazonaws.com",
)
"""The services whose own role AWS creates at their first use in an account."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The account and the stack that a policy is for."""

    account: str
    region: str
    prefix: str
    """The start of the stack's names, as in `gpu-ci-staging`."""
    tags: Mapping[str, str]
    """The tags of all resources of the stack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Actions of one service on resources, before the stack is known."""

    service: str
    verbs: tuple[str, ...]
    resources: tuple[str, ...]
    """ARNs with `{account}`, `{region}` and `{prefix}`, or `*`."""
    condition: str = ""
    """`region`, `request-tags`, `resource-tags`, `attached`, `passed` or empty."""

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions with their service."""
        return tuple(f"{self.service}:{verb}" for verb in self.verbs)

    @property
    def subject(self) -> str:
        """The service, and for IAM the kind of its resources: `ec2`, `iam:role`."""
        return f"iam:{self.resources[0].split(':')[5].split('/')[0]}" if self.service == "iam" else self.service


def any_(service: str, verbs: str) -> Grant:
    """Return actions on every resource of the region: the service has no names, or the action has no resource."""
    return Grant(service=service, verbs=tuple(verbs.split()), resources=("*",), condition="region")


def named(service: str, resources: str, verbs: str, *, iam: bool = False) -> Grant:
    """Return actions on resources whose names begin with the stack's prefix."""
    start = "arn:aws:iam::{account}:" if iam else f"arn:aws:{service}:{{region}}:{{account}}:"
    return Grant(service=service, verbs=tuple(verbs.split()), resources=tuple(start + one for one in resources.split()))


def identities(kind: str, verbs: str, condition: str = "resource-tags") -> Grant:
    """Return actions on the stack's roles or instance profiles: those with its prefix, and those that Pulumi names."""
    names = ("{prefix}-*", *(f"{name}-???????" for name in ROLE_NAMES))
    return Grant(
        service="iam",
        verbs=tuple(verbs.split()),
        resources=tuple(f"arn:aws:iam::{{account}}:{kind}/{name}" for name in names),
        condition=condition,
    )


def roles(verbs: str, condition: str = "resource-tags") -> Grant:
    """Return actions on the stack's roles."""
    return identities("role", verbs, condition)


def keys(verbs: str) -> Grant:
    """Return actions on the stack's keys, which have no names."""
    every = ("arn:aws:kms:{region}:{account}:key/*",)
    return Grant(service="kms", verbs=tuple(verbs.split()), resources=every, condition="resource-tags")


def document(grants: list[Grant], place: Place) -> str:
    """Return the union of grants: a statement for each service, list of resources and condition."""
    merged: dict[tuple[str, tuple[str, ...], str], set[str]] = {}
    for grant in grants:
        merged.setdefault((grant.service, grant.resources, grant.condition), set()).update(grant.actions)
    statements = [
        {
            "Effect": "Allow",
            "Action": sorted(actions),
            "Resource": [
                one.format(account=place.account, region=place.region, prefix=place.prefix) for one in resources
            ],
            **({"Condition": _condition(condition, place)} if condition else {}),
        }
        for (_, resources, condition), actions in sorted(merged.items())
    ]
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, separators=(",", ":"), sort_keys=True)


def _condition(name: str, place: Place) -> dict[str, dict[str, Any]]:
    if name == "passed":
        return {"StringEquals": {"iam:PassedToService": list(SERVICES)}}
    if name == "region":
        return {"StringEquals": {"aws:RequestedRegion": place.region}}
    owned = {f"aws:ResourceTag/{key}": value for key, value in place.tags.items()}
    if name == "request-tags":
        # Something with the tags of another stack exists, and must not get the tags of this one.
        stated = {f"aws:RequestTag/{key}": value for key, value in place.tags.items()}
        return {"StringEquals": stated, "StringEqualsIfExists": owned}
    return {"StringEquals": owned, **({"ArnEquals": {"iam:PolicyARN": _POLICIES}} if name == "attached" else {})}
