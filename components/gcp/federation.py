"""GitHub Actions as itself: jobs of named repositories act here with GitHub's own token, and no key exists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
import pulumi_gcp as gcp
from pulumi import Output, ResourceOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

ISSUER = "https://token.actions.githubusercontent.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class FederationArgs:
    """Whose jobs are let in."""

    project: str
    pool: str
    """The pool's id. A deleted pool keeps its id for thirty days."""
    owner_id: int
    """The organisation's numeric id: names can be registered again by somebody else, ids cannot."""
    repositories: Mapping[str, int]
    """A name for each repository, to its numeric id."""
    branches: tuple[str, ...] = ("main",)
    """Where a workflow has been reviewed, so that its jobs may be trusted with more."""


def condition(owner_id: int, repositories: Mapping[str, int]) -> str:
    """What a token must say to be taken at all: the owner, one of the repositories, and no borrowed name.

    A job of `pull_request_target` carries the branch that a fork asks to be merged into, and may run the fork's code.
    """
    listed = ", ".join(f"'{repository}'" for repository in sorted(repositories.values()))
    return (
        f"assertion.repository_owner_id == '{owner_id}' && assertion.repository_id in [{listed}]"
        " && assertion.event_name != 'pull_request_target'"
    )


class Federation(pulumi.ComponentResource):
    """A workload identity pool for GitHub Actions."""

    provider_name: Output[str]
    """What a workflow gives as `workload_identity_provider`."""
    members: Mapping[str, Output[str]]
    """Repository to the member that all its jobs are, for roles."""
    trusted: Mapping[str, Output[str]]
    """Repository and branch, as in `vision-main`, to the member that the jobs on that branch are."""

    def __init__(self, name: str, args: FederationArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:gcp:Federation", name, None, opts)
        fixed = ResourceOptions(parent=self, delete_before_replace=True)
        pool = gcp.iam.WorkloadIdentityPool(
            name,
            project=args.project,
            workload_identity_pool_id=args.pool,
            display_name="GitHub Actions",
            opts=fixed,
        )
        provider = gcp.iam.WorkloadIdentityPoolProvider(
            name,
            project=args.project,
            workload_identity_pool_id=pool.workload_identity_pool_id,
            workload_identity_pool_provider_id="github-actions",
            attribute_mapping={
                "google.subject": "assertion.sub",
                "attribute.repository_id": "assertion.repository_id",
                "attribute.repository_ref": "assertion.repository_id + ':' + assertion.ref",
            },
            attribute_condition=condition(args.owner_id, args.repositories),
            oidc={"issuer_uri": ISSUER},
            opts=fixed,
        )
        self.provider_name = provider.name
        everybody = Output.concat("principalSet://iam.googleapis.com/", pool.name, "/attribute.")
        self.members = {
            repository: Output.concat(everybody, "repository_id/", str(number))
            for repository, number in args.repositories.items()
        }
        self.trusted = {
            f"{repository}-{branch}": Output.concat(everybody, f"repository_ref/{number}:refs/heads/{branch}")
            for repository, number in args.repositories.items()
            for branch in args.branches
        }
        self.register_outputs({"provider_name": self.provider_name})
