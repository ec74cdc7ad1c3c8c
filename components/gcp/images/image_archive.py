"""The bucket of exported images, and the two service accounts of the export.

`gcloud compute images export` runs a build on Cloud Build, which starts a machine. By default both run as the default
accounts of the project, and gcloud grants those accounts missing roles on the project, outside of any state. The
accounts here have the roles that gcloud checks (`daisy_utils.py` in the Google Cloud SDK) and no other purpose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_gcp as gcp
from pulumi import Output, ResourceOptions

BUILD_ROLES: Final = (
    "compute.admin",
    "iam.serviceAccountTokenCreator",
    "iam.serviceAccountUser",
    "logging.logWriter",
)
MACHINE_ROLES: Final = ("compute.storageAdmin", "storage.objectAdmin")
STORAGE_PERMISSIONS: Final = (
    "storage.buckets.get",
    "storage.buckets.list",
    "storage.objects.create",
    "storage.objects.delete",
    "storage.objects.get",
)
"""Without these permissions gcloud would make the build's account an administrator of all storage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageArchiveArgs:
    """A bucket and the names of its accounts."""

    project: str
    region: str
    bucket: str
    """The name of the bucket; it is unique on Google Cloud."""
    keep_days: int
    """Days after which an exported image is deleted."""
    keep_on_destroy: bool
    """Whether the bucket with its images outlives the stack."""
    prefix: str
    """The start of the accounts' ids."""


class ImageArchive(pulumi.ComponentResource):
    """A bucket, a service account for the build, and one for its machine."""

    bucket: Output[str]
    """The name of the bucket, after both accounts have their roles."""
    build_account: Output[str]
    """The email of the build's account."""
    machine_account: Output[str]
    """The email of the machine's account."""

    def __init__(self, name: str, args: ImageArchiveArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:gcp:ImageArchive", name, None, opts)
        child = ResourceOptions(parent=self)
        fixed = ResourceOptions(parent=self, delete_before_replace=True)
        bucket = gcp.storage.Bucket(
            name,
            project=args.project,
            name=args.bucket,
            location=args.region.upper(),
            uniform_bucket_level_access=True,
            public_access_prevention="enforced",
            force_destroy=not args.keep_on_destroy,
            lifecycle_rules=[{"action": {"type": "Delete"}, "condition": {"age": args.keep_days}}],
            # A bucket that contains images can only be kept.
            opts=ResourceOptions.merge(fixed, ResourceOptions(retain_on_delete=args.keep_on_destroy)),
        )
        storage = gcp.projects.IAMCustomRole(
            f"{name}-storage",
            project=args.project,
            role_id=f"{args.prefix}_export".replace("-", "_"),
            title="Export of machine images",
            permissions=list(STORAGE_PERMISSIONS),
            opts=child,
        )
        granted: list[Output[str]] = []
        accounts: dict[str, gcp.serviceaccount.Account] = {}
        for part, title, roles in (
            ("build", "export", {**_predefined(BUILD_ROLES), "storage": storage.name}),
            ("machine", "worker", _predefined(MACHINE_ROLES)),
        ):
            account = gcp.serviceaccount.Account(
                f"{name}-{part}",
                project=args.project,
                account_id=f"{args.prefix}-{title}",
                display_name=f"Export of machine images: the {part}",
                opts=fixed,
            )
            accounts[part] = account
            granted += [
                gcp.projects.IAMMember(
                    f"{name}-{part}-{short}", project=args.project, role=role, member=account.member, opts=child
                ).id
                for short, role in roles.items()
            ]
        self.bucket = Output.all(bucket.name, *granted).apply(lambda known: str(known[0]))
        self.build_account = accounts["build"].email
        self.machine_account = accounts["machine"].email
        self.register_outputs(
            {
                "bucket": self.bucket,
                "build_account": self.build_account,
                "machine_account": self.machine_account,
            }
        )


def _predefined(roles: tuple[str, ...]) -> dict[str, str | Output[str]]:
    """Return predefined roles by the last part of their names."""
    return {role.rpartition(".")[2]: f"roles/{role}" for role in roles}
