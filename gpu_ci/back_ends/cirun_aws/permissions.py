"""Permissions of cirun's IAM user: what starting and deleting a runner needs, and nothing else.

cirun publishes no list of permissions. Its reference requires an account with EC2 administration
(AktechLabs/cirun-docs, `docs/cloud`, 18 May 2026). The permissions here are those that the API checks for these calls
(AWS Service Authorization Reference, 2026). If cirun makes another call, its dashboard shows the denied one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final


def policy(
    *, account: str, vpcs: Mapping[str, str], instance_types: Sequence[str], spot: bool, stated: bool
) -> dict[str, Any]:
    """Return the policy of cirun's IAM user: instances of these types in cirun's own networks, and nothing else.

    Args:
        account: the account.
        vpcs: region to the ARN of cirun's VPC in it.
        instance_types: the types that runners state.
        spot: whether a runner uses spot.
        stated: whether every runner states its subnets. Until then, a launch may be in any network without a cluster,
            because cirun uses the default one.

    """
    here = {"aws:RequestedRegion": sorted(vpcs)}
    types = {"ec2:InstanceType": sorted(instance_types)}
    # EC2 also checks the second action where a launch is a spot request.
    launch = ["ec2:RequestSpotInstances", "ec2:RunInstances"] if spot else ["ec2:RunInstances"]
    inside = {"ArnEquals": {"ec2:Vpc": [vpcs[region] for region in sorted(vpcs)]}}
    statements = [
        _allow("See", ["ec2:Describe*"], ["*"], {"StringEquals": here}),
        # A list of regions can be requested in any region, and cirun's own default is eu-west-1.
        _allow("SeeRegions", ["ec2:DescribeRegions"], ["*"]),
        _allow(
            "LaunchTheseTypes", ["ec2:RunInstances"], _own(account, "instance"), {"StringEquals": {**here, **types}}
        ),
        _allow(
            "LaunchIn",
            launch,
            _own(account, "network-interface", "security-group", "subnet"),
            {"StringEquals": here, **(inside if stated else _NO_CLUSTER)},
        ),
        _allow(
            "LaunchWith",
            launch,
            [
                "arn:aws:ec2:*::image/*",
                "arn:aws:ec2:*::snapshot/*",
                *_own(account, "key-pair", "spot-instances-request", "volume"),
            ],
            {"StringEquals": here},
        ),
        _allow(
            "NameWhatIsLaunched",
            ["ec2:CreateTags"],
            _own(account, "instance", "network-interface", "spot-instances-request", "volume"),
            {"StringEquals": {**here, "ec2:CreateAction": ["RequestSpotInstances", "RunInstances"]}},
        ),
        # EC2 does not check the network of an instance here, so tags identify the nodes of clusters.
        _allow(
            "EndTheseTypes",
            ["ec2:StopInstances", "ec2:TerminateInstances"],
            _own(account, "instance"),
            {"StringEquals": {**here, **types}, **_NO_NODE},
        ),
    ]
    if spot:
        statements += [
            _allow(
                "CancelSpot",
                ["ec2:CancelSpotInstanceRequests"],
                _own(account, "spot-instances-request"),
                {"StringEquals": here, **_NO_NODE},
            ),
            _allow(
                "SpotServiceRole",
                ["iam:CreateServiceLinkedRole"],
                [f"arn:aws:iam::{account}:role/aws-service-role/spot.amazonaws.com/AWSServiceRoleForEC2Spot"],
                {"StringEquals": {"iam:AWSServiceName": "spot.amazonaws.com"}},
            ),
        ]
    return {"Version": "2012-10-17", "Statement": statements}


def _absent(*tags: str) -> dict[str, Any]:
    """Return a condition that holds for resources without any of these tags."""
    return {"Null": {f"aws:ResourceTag/{tag}": "true" for tag in tags}}


_NO_CLUSTER: Final = _absent("kubernetes.io/role/elb", "kubernetes.io/role/internal-elb")
"""Subnets of clusters have one of these tags."""
_NO_NODE: Final = _absent("ManagedBy", "aws:autoscaling:groupName", "eks:cluster-name")
"""Nodes of EKS have all of these tags; the first is that of every machine of gpu-ci."""


def _own(account: str, *kinds: str) -> list[str]:
    return [f"arn:aws:ec2:*:{account}:{kind}/*" for kind in kinds]


def _allow(
    name: str, actions: Sequence[str], resources: Sequence[str], conditions: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    statement = {"Sid": name, "Effect": "Allow", "Action": sorted(actions), "Resource": list(resources)}
    return {**statement, "Condition": dict(conditions)} if conditions else statement
