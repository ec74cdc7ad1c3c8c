"""What cirun may do in a cloud account: the least that starting and ending a runner takes.

Owns the documents, as data. cirun publishes no list: its reference asks for an account with EC2 administration, or
for Compute Engine Admin (AktechLabs/cirun-docs, `docs/cloud`, 18 May 2026). What is here is what the EC2 and Compute
APIs check for those calls (AWS Service Authorization Reference, and Google's list of IAM permissions, 2026); where
cirun makes a call beside them, its dashboard shows the one that was refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GOOGLE_ROLE_TITLE: Final = "cirun runners"

_LAUNCH: Final = (
    "compute.disks.create",
    "compute.disks.setLabels",
    "compute.disks.use",
    "compute.images.get",
    "compute.images.getFromFamily",
    "compute.images.useReadOnly",
    "compute.instances.create",
    "compute.instances.setLabels",
    "compute.instances.setMetadata",
    "compute.instances.setServiceAccount",
    "compute.instances.setTags",
    "compute.networks.use",
    "compute.networks.useExternalIp",
    "compute.subnetworks.use",
    "compute.subnetworks.useExternalIp",
)
_END: Final = ("compute.disks.delete", "compute.instances.delete", "compute.instances.stop")
_SEE: Final = (
    "compute.acceleratorTypes.get",
    "compute.acceleratorTypes.list",
    "compute.disks.get",
    "compute.diskTypes.get",
    "compute.globalOperations.get",
    "compute.images.list",
    "compute.instances.get",
    "compute.instances.getSerialPortOutput",
    "compute.instances.list",
    "compute.machineTypes.get",
    "compute.machineTypes.list",
    "compute.networks.get",
    "compute.projects.get",
    "compute.regions.get",
    "compute.regions.list",
    "compute.subnetworks.get",
    "compute.zoneOperations.get",
    "compute.zones.get",
    "compute.zones.list",
)


def google_permissions() -> tuple[str, ...]:
    """The permissions of a custom role for cirun's service account, in the project of the runners.

    No `setIamPolicy` is among them, and no image can be made or removed. Beside the role it needs
    `roles/iam.serviceAccountUser` on the runners' own service account, there and nowhere else.
    """
    return tuple(sorted({*_LAUNCH, *_END, *_SEE}))


def amazon_policy(
    *, account: str, regions: Sequence[str], instance_types: Sequence[str], spot: bool, cache: bool = False
) -> dict[str, Any]:
    """The policy of cirun's IAM user: instances of these types, in these regions, and nothing else.

    `cache` adds what cirun publishes for its S3 cache (`docs/caching/aws.md`).
    """
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
    return {"Version": "2012-10-17", "Statement": [*statements, *(_cache(account) if cache else [])]}


_LAUNCHED_WITH: Final = (
    "key-pair",
    "network-interface",
    "security-group",
    "spot-instances-request",
    "subnet",
    "volume",
)
_TAGGED_WHEN_MADE: Final = ("CreateSecurityGroup", "RequestSpotInstances", "RunInstances")
_CIRUN_ACCOUNT: Final = "904233099746"
"""cirun's own AWS account, whose roles its cache is served by."""


def _cache(account: str) -> list[dict[str, Any]]:
    """What cirun publishes itself, held to this account where it says any."""
    roles = [f"arn:aws:iam::{account}:role/CirunCacheRole", f"arn:aws:iam::{account}:role/CirunCache*Role"]
    bucket = ["CreateBucket", "DeleteBucket", "GetBucketLocation", "GetBucketVersioning", "ListBucket"]
    objects = ["AbortMultipartUpload", "DeleteObject", "GetObject", "ListMultipartUploadParts", "PutObject"]
    role = [
        "CreateRole", "DeleteRole", "DeleteRolePolicy", "GetRole", "GetRolePolicy", "ListRolePolicies", "ListRoles",
        "PutRolePolicy", "UpdateAssumeRolePolicy",
    ]  # fmt: skip
    itself = [
        "GetContextKeysForPrincipalPolicy", "GetPolicy", "GetPolicyVersion", "GetRolePolicy", "GetUserPolicy",
        "SimulatePrincipalPolicy",
    ]  # fmt: skip
    return [
        _allow(
            "CacheBucket", [f"s3:{name}" for name in (*bucket, "PutBucketVersioning")], ["arn:aws:s3:::cirun-caching-*"]
        ),
        _allow("CacheObjects", [f"s3:{name}" for name in objects], ["arn:aws:s3:::cirun-caching-*/*"]),
        _allow("CacheRoles", [f"iam:{name}" for name in role], roles),
        _allow("CacheService", ["sts:AssumeRole"], [f"arn:aws:iam::{_CIRUN_ACCOUNT}:role/CirunCache*"]),
        _allow("CacheIdentity", ["sts:GetCallerIdentity"], ["*"]),
        _allow("CacheOwnPermissions", [f"iam:{name}" for name in itself], ["*"]),
    ]


def _allow(
    name: str, actions: Sequence[str], resources: Sequence[str], conditions: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    statement = {"Sid": name, "Effect": "Allow", "Action": sorted(actions), "Resource": list(resources)}
    return {**statement, "Condition": dict(conditions)} if conditions else statement
