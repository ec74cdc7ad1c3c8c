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


def condition(owner_id: int, repositories: Mapping[str, int]) -> str:
    """What a token must say to be taken at all: the owner, and one of the repositories."""
    listed = ", ".join(f"'{repository}'" for repository in sorted(repositories.values()))
    return f"assertion.repository_owner_id == '{owner_id}' && assertion.repository_id in [{listed}]"


class Federation(pulumi.ComponentResource):
    """A workload identity pool for GitHub Actions."""

    provider_name: Output[str]
    """What a workflow gives as `workload_identity_provider`."""
    members: Mapping[str, Output[str]]
    """Repository to the member that its jobs are, for roles."""

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
                "attribute.ref": "assertion.ref",
            },
            attribute_condition=condition(args.owner_id, args.repositories),
            oidc={"issuer_uri": ISSUER},
            opts=fixed,
        )
        self.provider_name = provider.name
        self.members = {
            repository: Output.concat(
                "principalSet://iam.googleapis.com/", pool.name, "/attribute.repository_id/", str(number)
            )
            for repository, number in args.repositories.items()
        }
        self.register_outputs({"provider_name": self.provider_name})
