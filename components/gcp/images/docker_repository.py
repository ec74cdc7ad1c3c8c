"""A Docker repository in Artifact Registry, with immutable tags or with expiry of tagged images.

A repository cannot have both: not even a cleanup policy deletes an image with an immutable tag (`immutableTags` in the
Artifact Registry API: "modified, moved or deleted").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pulumi
import pulumi_gcp as gcp
from pulumi import Input, Output, ResourceOptions

DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class DockerRepositoryArgs:
    """One repository."""

    project: str
    region: str
    repository: str
    """The id of the repository. It is part of the name of every image."""
    immutable_tags: bool
    """Whether a tag always refers to the same image."""
    keep: int
    """The number of versions of each image that are always kept."""
    drop_after_days: int
    """Days after which an image is deleted: only one without a tag where tags are immutable, otherwise any."""
    dry_run: bool
    """Whether the cleanup policy only writes to the audit log."""
    readers: Mapping[str, Input[str]] = field(default_factory=dict)
    """A name for each member that may pull, to the member."""
    writers: Mapping[str, Input[str]] = field(default_factory=dict)
    """A name for each member that may push, to the member."""
    force_delete: bool
    """Whether the repository may be deleted. Google deletes it with its images, without asking."""
    protect: bool
    """Whether Pulumi refuses to delete the repository in any case."""


class DockerRepository(pulumi.ComponentResource):
    """A repository and the members that may pull and push."""

    url: Output[str]
    """The address of its images: `REGION-docker.pkg.dev/PROJECT/REPOSITORY`."""

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
            # If it is not stated, Google starts to delete in the first night.
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
                        # In seconds, as the API returns it: days would cause a diff at every preview.
                        "older_than": f"{args.drop_after_days * DAY_SECONDS}s",
                    },
                },
            ],
            # Its id is its address: the old repository must be deleted before the new one is created.
            opts=ResourceOptions.merge(
                child, ResourceOptions(protect=args.protect or not args.force_delete, delete_before_replace=True)
            ),
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
