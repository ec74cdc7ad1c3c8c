"""ECR repositories with scanning, immutable tags and expiry of images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws
from pulumi import Output, ResourceOptions

from components.aws.images.lifecycle import lifecycle_policy


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryArgs:
    """One repository."""

    keep: int
    """The number of images that are kept."""
    untagged_days: int
    """Days after which an image without a tag expires."""
    pull_request_days: int
    """Days after which images tagged `pr-*` expire; 0 keeps them."""
    mutable_tags: Sequence[str]
    """Wildcards of tags that may be overwritten. All other tags are immutable."""
    force_delete: bool
    """Whether a repository with images may be deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryArgs:
    """The repositories of a stack."""

    prefix: str
    """The start of the repositories' names, so that stacks of one account do not collide."""
    repositories: Mapping[str, RepositoryArgs]
    """The end of a repository's name to its settings."""
    protect: bool
    """Whether Pulumi refuses to delete the repositories."""


class Registry(pulumi.ComponentResource):
    """The image repositories of a stack."""

    urls: Mapping[str, Output[str]]
    """Repository to the address for pushes and pulls."""

    def __init__(self, name: str, args: RegistryArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:Registry", name, None, opts)
        child = ResourceOptions(parent=self)
        urls: dict[str, Output[str]] = {}
        for key, repository in args.repositories.items():
            made = aws.ecr.Repository(
                f"{name}-{key}",
                name=f"{args.prefix}/{key}",
                image_tag_mutability="IMMUTABLE_WITH_EXCLUSION" if repository.mutable_tags else "IMMUTABLE",
                image_tag_mutability_exclusion_filters=[
                    {"filter": wildcard, "filter_type": "WILDCARD"} for wildcard in repository.mutable_tags
                ]
                or None,
                image_scanning_configuration={"scan_on_push": True},
                encryption_configurations=[{"encryption_type": "AES256"}],
                force_delete=repository.force_delete,
                # Its name is its address: the old repository must be deleted before the new one is created.
                opts=ResourceOptions.merge(child, ResourceOptions(protect=args.protect, delete_before_replace=True)),
            )
            aws.ecr.LifecyclePolicy(
                f"{name}-{key}",
                repository=made.name,
                policy=lifecycle_policy(
                    keep=repository.keep,
                    untagged_days=repository.untagged_days,
                    pull_request_days=repository.pull_request_days,
                ),
                opts=child,
            )
            urls[key] = made.repository_url
        self.urls = urls
        self.register_outputs({"urls": urls})
