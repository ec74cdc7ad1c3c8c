"""Where images are archived, and the two accounts that the export by gcloud runs as.

The export is a build of Cloud Build that starts a machine of its own. Left alone, gcloud runs both as the project's
default accounts and adds to them, project-wide and outside of any state, the roles that it misses; what it looks for
(`daisy_utils.py` in the Google Cloud SDK) is given here to accounts that have nothing else to do.
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
"""Where these are missing, gcloud would make the build's account an administrator of all storage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageArchiveArgs:
    """What is kept, where, and for how long."""

    project: str
    region: str
    bucket: str
    keep_days: int
    keep_on_destroy: bool
    """Whether the bucket with its archives outlives the stack."""
    prefix: str
    """What the accounts' names begin with."""


class ImageArchive(pulumi.ComponentResource):
    """A bucket, an account for the build, and one for its machine."""

    bucket: Output[str]
    """The bucket, once both accounts may do their work."""
    build_account: Output[str]
    machine_account: Output[str]

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
            # A bucket that is not empty can only be left.
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
    """Google's roles, by what is left of their names without the service."""
    return {role.rpartition(".")[2]: f"roles/{role}" for role in roles}
