"""What Google Cloud knows of its things.

What replaces a thing is `ForceNew` in hashicorp/terraform-provider-google 7.x, on which pulumi-gcp 10 stands; refusals
and their words are those of the Google APIs (both as of 2026-11).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.standin.kinds import Kind, Reference

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

NETWORK: Final = "gcp:compute/network:Network"
SUBNETWORK: Final = "gcp:compute/subnetwork:Subnetwork"
ACCOUNT: Final = "gcp:serviceaccount/account:Account"
POOL: Final = "gcp:iam/workloadIdentityPool:WorkloadIdentityPool"
ROUTER: Final = "gcp:compute/router:Router"

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


def _members(type_: str, *, of: str = "") -> Kind:
    """A grant: known by what it grants on, the role and the member."""
    on = Reference(of, ACCOUNT, by="name", missing=_MISSING, foreign="@", holds=False, follows=True) if of else None
    return Kind(
        type=type_,
        references=[on] if on else [],
        replaced_by=frozenset({"role", "member", "condition", "project", "bucket", "repository", of} - {""}),
    )


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
        "gcp:compute/image:Image",
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
        "gcp:artifactregistry/repository:Repository",
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
    _members("gcp:serviceaccount/iAMMember:IAMMember", of="serviceAccountId"),
    _members("gcp:serviceaccount/iAMBinding:IAMBinding", of="serviceAccountId"),
    _members("gcp:projects/iAMMember:IAMMember"),
    _members("gcp:artifactregistry/repositoryIamMember:RepositoryIamMember"),
    _members("gcp:compute/imageIamMember:ImageIamMember"),
    _members("gcp:storage/bucketIAMMember:BucketIAMMember"),
    _kind("gcp:projects/iAMCustomRole:IAMCustomRole", identity=("project", "roleId"), keeps_name=True),
    _kind("gcp:projects/service:Service", identity=("project", "service")),
    _kind("gcp:storage/bucket:Bucket", identity=("name",), replaced_by=["location", "customPlacementConfig"]),
    _kind("gcp:secretmanager/secret:Secret", identity=("project", "secretId"), replaced_by=["replication"]),
    Kind(
        type="gcp:secretmanager/secretVersion:SecretVersion",
        references=[
            Reference("secret", "gcp:secretmanager/secret:Secret", missing=_MISSING, holds=False, follows=True)
        ],
        replaced_by=frozenset({"secret", "secretData"}),
    ),
    _kind("gcp:cloudscheduler/job:Job", identity=("project", "region", "name")),
    _kind("gcp:monitoring/alertPolicy:AlertPolicy", identity=("project", "displayName")),
    _kind("gcp:pubsub/topic:Topic", replaced_by=["kmsKeyName"]),
)
"""Every type of this chapter."""
