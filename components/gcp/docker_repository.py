"""A Docker repository in Artifact Registry: tags that stay what they were, and images that expire.

The two exclude each other: a tag that cannot be moved cannot be deleted either, nor what it names, not even by a
cleanup policy (`immutableTags` in the Artifact Registry API: "modified, moved or deleted").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pulumi
import pulumi_gcp as gcp
from pulumi import Input, Output, ResourceOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class DockerRepositoryArgs:
    """What one repository is."""

    project: str
    region: str
    repository: str
    """Its id, which is part of every image's name."""
    immutable_tags: bool
    keep: int
    """Versions of each image that are always kept."""
    drop_after_days: int
    """When an image goes: without a tag, where tags are immutable, and any otherwise."""
    dry_run: bool
    """Whether cleaning up is only written to the audit log."""
    readers: Mapping[str, Input[str]] = field(default_factory=dict)
    """A name for each member that may pull, to the member."""
    writers: Mapping[str, Input[str]] = field(default_factory=dict)
    """A name for each member that may push, to the member."""
    protect: bool = False


class DockerRepository(pulumi.ComponentResource):
    """Where images are pushed, and who may."""

    url: Output[str]
    """Where its images are: `REGION-docker.pkg.dev/PROJECT/REPOSITORY`."""

    def __init__(self, name: str, args: DockerRepositoryArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:gcp:DockerRepository", name, None, opts)
        child = ResourceOptions(parent=self)
        repository = gcp.artifactregistry.Repository(
            name,
            project=args.project,
            location=args.region,
            repository_id=args.repository,
            format="DOCKER",
            mode="STANDARD_REPOSITORY",
            docker_config={"immutable_tags": args.immutable_tags},
            # Left out, Google deletes from the first night on.
            cleanup_policy_dry_run=args.dry_run,
            cleanup_policies=[
                {
                    "id": "keep-newest",
                    "action": "KEEP",
                    "most_recent_versions": {"keep_count": args.keep},
                },
                {
                    "id": "drop-old",
                    "action": "DELETE",
                    "condition": {
                        "tag_state": "UNTAGGED" if args.immutable_tags else "ANY",
                        # In seconds, as the API reads it back: days would be a difference at every preview.
                        "older_than": f"{args.drop_after_days * DAY_SECONDS}s",
                    },
                },
            ],
            # Its id is its address, so that a new one cannot be made beside the old.
            opts=ResourceOptions.merge(child, ResourceOptions(protect=args.protect, delete_before_replace=True)),
        )
        for role, members in (("reader", args.readers), ("writer", args.writers)):
            for who, member in members.items():
                gcp.artifactregistry.RepositoryIamMember(
                    f"{name}-{role}-{who}",
                    project=args.project,
                    location=repository.location,
                    repository=repository.name,
                    role=f"roles/artifactregistry.{role}",
                    member=member,
                    opts=child,
                )
        self.url = Output.concat(args.region, "-docker.pkg.dev/", args.project, "/", repository.repository_id)
        self.register_outputs({"url": self.url})
