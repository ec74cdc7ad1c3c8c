"""Permissions of cirun's IAM user: what starting and deleting a runner needs, and nothing else.

cirun publishes no list of permissions. Its reference requires an account with EC2 administration
(AktechLabs/cirun-docs, `docs/cloud`, 18 May 2026). The permissions here are those that the API checks for these calls
(AWS Service Authorization Reference, 2026). If cirun makes another call, its dashboard shows the denied one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def policy(*, account: str, regions: Sequence[str], instance_types: Sequence[str], spot: bool) -> dict[str, Any]:
    """Return the policy of cirun's IAM user: instances of these types in these regions, and nothing else."""
    here = {"aws:RequestedRegion": sorted(regions)}
    types = {"ec2:InstanceType": sorted(instance_types)}
    statements = [
        _allow("See", ["ec2:Describe*"], ["*"], {"StringEquals": here}),
        _allow(
            "LaunchTheseTypes",
            ["ec2:RunInstances"],
            [f"arn:aws:ec2:*:{account}:instance/*"],
            {"StringEquals": {**here, **types}},
        ),
        _allow(
            "LaunchWith",
            ["ec2:RunInstances"],
            [
                "arn:aws:ec2:*::image/*",
                "arn:aws:ec2:*::snapshot/*",
                *(f"arn:aws:ec2:*:{account}:{kind}/*" for kind in _LAUNCHED_WITH),
            ],
            {"StringEquals": here},
        ),
        _allow(
            "NameWhatIsLaunched",
            ["ec2:CreateTags"],
            [f"arn:aws:ec2:*:{account}:*/*"],
            {"StringEquals": {**here, "ec2:CreateAction": list(_TAGGED_WHEN_MADE)}},
        ),
        _allow(
            "EndTheseTypes",
            ["ec2:StopInstances", "ec2:TerminateInstances"],
            [f"arn:aws:ec2:*:{account}:instance/*"],
            {"StringEquals": {**here, **types}},
        ),
        _allow(
            "OneSecurityGroup",
            ["ec2:AuthorizeSecurityGroupEgress", "ec2:AuthorizeSecurityGroupIngress", "ec2:CreateSecurityGroup"],
            [f"arn:aws:ec2:*:{account}:security-group/*", f"arn:aws:ec2:*:{account}:vpc/*"],
            {"StringEquals": here},
        ),
    ]
    if spot:
        statements += [
            _allow(
                "Spot",
                ["ec2:CancelSpotInstanceRequests", "ec2:RequestSpotInstances"],
                ["*"],
                {"StringEquals": here},
            ),
            _allow(
                "SpotServiceRole",
                ["iam:CreateServiceLinkedRole"],
                [f"arn:aws:iam::{account}:role/aws-service-role/spot.amazonaws.com/AWSServiceRoleForEC2Spot"],
                {"StringEquals": {"iam:AWSServiceName": "spot.amazonaws.com"}},
            ),
        ]
    return {"Version": "2012-10-17", "Statement": statements}


_LAUNCHED_WITH: Final = (
    "key-pair",
    "network-interface",
    "security-group",
    "spot-instances-request",
    "subnet",
    "volume",
)
_TAGGED_WHEN_MADE: Final = ("CreateSecurityGroup", "RequestSpotInstances", "RunInstances")


def _allow(
    name: str, actions: Sequence[str], resources: Sequence[str], conditions: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    statement = {"Sid": name, "Effect": "Allow", "Action": sorted(actions), "Resource": list(resources)}
    return {**statement, "Condition": dict(conditions)} if conditions else statement
