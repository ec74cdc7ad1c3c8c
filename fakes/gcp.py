"""What Google Cloud knows of its things.

What replaces a thing is `ForceNew` in hashicorp/terraform-provider-google 7.x, on which pulumi-gcp 10 stands; refusals
and their words are those of the Google APIs (both as of 2026-11).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fakes.kinds import Kind, Reference

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fakes.cloud import Cloud
    from fakes.objects import Thing

NETWORK: Final = "gcp:compute/network:Network"
SUBNETWORK: Final = "gcp:compute/subnetwork:Subnetwork"
ACCOUNT: Final = "gcp:serviceaccount/account:Account"
POOL: Final = "gcp:iam/workloadIdentityPool:WorkloadIdentityPool"
ROUTER: Final = "gcp:compute/router:Router"
REPOSITORY: Final = "gcp:artifactregistry/repository:Repository"
IMAGE: Final = "gcp:compute/image:Image"
BUCKET: Final = "gcp:storage/bucket:Bucket"
BUCKET_OBJECT: Final = "gcp:storage/bucketObject:BucketObject"
SECRET: Final = "gcp:secretmanager/secret:Secret"  # noqa: S105  # a type token

_MISSING: Final = "Error 404: The resource '{value}' was not found, notFound"
_IN_USE: Final = "Error 400: The resource '{id}' is already being used by '{holder}', resourceInUseByAnotherResource"


def _kind(
    type_: str,
    *,
    identity: Sequence[str] = ("project", "name"),
    references: Iterable[Reference] = (),
    replaced_by: Iterable[str] = (),
    words: Mapping[str, Sequence[str]] | None = None,
    keeps_name: bool = False,
    slow: bool = False,
) -> Kind:
    name = identity[-1]
    return Kind(
        type=type_,
        identity=identity,
        taken=f"Error 409: The resource '{{{len(identity) - 1}}}' already exists, alreadyExists",
        keeps_name=keeps_name,
        references=list(references),
        in_use=_IN_USE,
        replaced_by=frozenset({*identity, *replaced_by}),
        delete_first=name if name == "name" else "",
        words=words or {},
        lengths={"name": 63} if name == "name" else {},
        slow=slow,
    )


def _both(path: str, to: str, *, holds: bool = True) -> tuple[Reference, Reference]:
    """Google takes an id or a self link; whichever is stated holds the thing."""
    return Reference(path, to, holds=holds), Reference(path, to, by="selfLink", holds=holds)


def _members(type_: str, on: str, to: str = "", by: str = "name", missing: str = "") -> Kind:
    """A grant: known by what it is on, the role and the member. It goes with what it is on."""
    return Kind(
        type=type_,
        references=[Reference(on, to, by=by, missing=missing, holds=False, follows=True)] if to else [],
        replaced_by=frozenset({on, "role", "member", "condition"}),
    )


def _bucket_is_empty(cloud: Cloud, bucket: Thing) -> str | None:
    if cloud.pointing_at(bucket, BUCKET_OBJECT) and not bucket.inputs.get("forceDestroy"):
        return "Error 409: The bucket you tried to delete is not empty., conflict"
    return None


KINDS: Final = (
    _kind(NETWORK, replaced_by=["autoCreateSubnetworks", "description", "mtu"], slow=True),
    _kind(
        SUBNETWORK,
        identity=("project", "region", "name"),
        references=_both("network", NETWORK),
        replaced_by=["network", "purpose"],
    ),
    _kind(
        "gcp:compute/firewall:Firewall",
        references=_both("network", NETWORK),
        replaced_by=["network", "direction"],
        words={"direction": ("EGRESS", "INGRESS")},
    ),
    _kind(
        ROUTER,
        identity=("project", "region", "name"),
        references=_both("network", NETWORK),
        replaced_by=["network"],
    ),
    _kind(
        "gcp:compute/routerNat:RouterNat",
        identity=("project", "region", "router", "name"),
        references=[Reference("router", ROUTER, by="name", missing=_MISSING)],
    ),
    _kind(
        "gcp:compute/instance:Instance",
        identity=("project", "zone", "name"),
        references=[
            *_both("networkInterfaces.*.network", NETWORK),
            *_both("networkInterfaces.*.subnetwork", SUBNETWORK),
            Reference("serviceAccount.email", ACCOUNT, by="email", holds=False),
            *_both("resourcePolicies", "gcp:compute/resourcePolicy:ResourcePolicy"),
        ],
        replaced_by=[
            "bootDisk.initializeParams",
            "guestAccelerators",
            "hostname",
            "metadataStartupScript",
            "networkInterfaces.network",
            "networkInterfaces.subnetwork",
            "resourcePolicies",
            "scheduling.provisioningModel",
            "scheduling.preemptible",
            "scratchDisks",
        ],
        words={
            "scheduling.onHostMaintenance": ("MIGRATE", "TERMINATE"),
            "scheduling.provisioningModel": ("FLEX_START", "SPOT", "STANDARD"),
            "scheduling.instanceTerminationAction": ("DELETE", "STOP"),
        },
        slow=True,
    ),
    _kind("gcp:compute/address:Address", identity=("project", "region", "name")),
    _kind("gcp:compute/disk:Disk", identity=("project", "zone", "name"), replaced_by=["type", "image", "snapshot"]),
    _kind(
        IMAGE,
        replaced_by=["family", "sourceDisk", "sourceImage", "rawDisk", "guestOsFeatures", "description"],
        slow=True,
    ),
    _kind(
        "gcp:compute/instanceTemplate:InstanceTemplate",
        replaced_by=["machineType", "disks", "networkInterfaces", "scheduling", "metadata", "guestAccelerators"],
    ),
    _kind(
        "gcp:compute/resourcePolicy:ResourcePolicy",
        identity=("project", "region", "name"),
        replaced_by=["description", "instanceSchedulePolicy", "snapshotSchedulePolicy"],
    ),
    _kind(
        REPOSITORY,
        identity=("project", "location", "repositoryId"),
        replaced_by=["format", "kmsKeyName", "mode"],
        words={"format": ("APT", "DOCKER", "GENERIC", "GO", "KFP", "MAVEN", "NPM", "PYTHON", "YUM")},
    ),
    # A deleted account, pool or key ring is kept for a time, or for ever; its name cannot be used again meanwhile.
    _kind(ACCOUNT, identity=("project", "accountId")),
    _kind(POOL, identity=("project", "workloadIdentityPoolId"), keeps_name=True),
    _kind(
        "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider",
        identity=("project", "workloadIdentityPoolId", "workloadIdentityPoolProviderId"),
        references=[
            Reference(
                "workloadIdentityPoolId",
                POOL,
                by="workloadIdentityPoolId",
                missing=_MISSING,
                holds=False,
                follows=True,
            )
        ],
        keeps_name=True,
    ),
    _members("gcp:serviceaccount/iAMMember:IAMMember", "serviceAccountId", ACCOUNT, missing=_MISSING),
    _members("gcp:projects/iAMMember:IAMMember", "project"),
    _members("gcp:artifactregistry/repositoryIamMember:RepositoryIamMember", "repository", REPOSITORY),
    _members("gcp:compute/imageIamMember:ImageIamMember", "image", IMAGE),
    _members("gcp:storage/bucketIAMMember:BucketIAMMember", "bucket", BUCKET),
    _members("gcp:secretmanager/secretIamMember:SecretIamMember", "secretId", SECRET, by="secretId"),
    _kind("gcp:projects/iAMCustomRole:IAMCustomRole", identity=("project", "roleId"), keeps_name=True),
    _kind("gcp:projects/service:Service", identity=("project", "service")),
    Kind(
        type=BUCKET,
        identity=("name",),
        taken="Error 409: The requested bucket name is not available: {0}, conflict",
        replaced_by=frozenset({"name", "project", "location", "customPlacementConfig"}),
        delete_first="name",
        lengths={"name": 63},
        before_delete=[_bucket_is_empty],
    ),
    Kind(
        type=BUCKET_OBJECT,
        identity=("bucket", "name"),
        references=[Reference("bucket", BUCKET, by="name", missing=_MISSING, holds=False, follows=True)],
        replaced_by=frozenset({"bucket", "name", "source"}),
    ),
    _kind(SECRET, identity=("project", "secretId"), replaced_by=["replication"]),
    Kind(
        type="gcp:secretmanager/secretVersion:SecretVersion",
        references=[Reference("secret", SECRET, missing=_MISSING, holds=False, follows=True)],
        replaced_by=frozenset({"secret", "secretData"}),
    ),
    _kind("gcp:cloudscheduler/job:Job", identity=("project", "region", "name")),
    Kind(type="gcp:cloudbuild/trigger:Trigger", replaced_by=frozenset({"location", "project"})),
)
"""Every type of this chapter."""
