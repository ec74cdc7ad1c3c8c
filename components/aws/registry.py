"""ECR repositories: scanned, with tags that stay what they were, and images that expire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
import pulumi_aws as aws
from pulumi import Output, ResourceOptions

from components.aws.lifecycle import lifecycle_policy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryArgs:
    """What one repository is."""

    keep: int
    untagged_days: int
    pull_request_days: int
    mutable_tags: Sequence[str]
    """Wildcards of tags that may be overwritten; every other one is immutable."""
    force_delete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryArgs:
    """Which repositories there are."""

    prefix: str
    """What repositories' names begin with, so that stacks of one account do not collide."""
    repositories: Mapping[str, RepositoryArgs]
    protect: bool


class Registry(pulumi.ComponentResource):
    """The stack's own image repositories."""

    urls: Mapping[str, Output[str]]
    """Repository to where its images are pushed and pulled."""

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
                # Its name is its address, so that a new one cannot be made beside the old.
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
