"""Workload identity for GitHub Actions: jobs of named repositories get access with GitHub's token, without a key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_gcp as gcp
from pulumi import Output, ResourceOptions

ISSUER = "https://token.actions.githubusercontent.com"


EVENTS = ("merge_group", "pull_request", "push", "release", "schedule", "workflow_dispatch")
"""The events whose jobs get access. Only people with write access to the repository cause them, or the token names the
ref of a pull request. Others run on the default branch with input of anyone: `pull_request_target`, `workflow_run`,
`issue_comment`, `issues`, `discussion`, `discussion_comment`, `fork`, `watch`, `gollum`, `status`, `check_run`,
`repository_dispatch` (GitHub Docs, "Events that trigger workflows", 2026)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FederationArgs:
    """The repositories whose jobs get access."""

    project: str
    pool: str
    """The id of the pool. A deleted pool keeps its id for thirty days."""
    owner_id: int
    """The numeric id of the organisation. Another user can register a released name, but never an id."""
    repositories: Mapping[str, int]
    """A name for each repository, to its numeric id."""
    branches: tuple[str, ...] = ("main",)
    """Protected branches. Their workflows were reviewed, so their jobs may get more permissions."""
    environment: str | None = None
    """If set, only jobs with this environment of GitHub get access."""
    events: tuple[str, ...] = EVENTS
    """The events whose jobs get access."""


def condition(
    owner_id: int,
    repositories: Mapping[str, int],
    environment: str | None = None,
    events: Sequence[str] = EVENTS,
) -> str:
    """Return the condition on a token: the owner, one of the repositories, one of the events, and the environment.

    A token of another event may name `main`, although its job runs the code or the text of a fork.
    """
    listed = ", ".join(f"'{repository}'" for repository in sorted(repositories.values()))
    allowed = ", ".join(f"'{event}'" for event in events)
    return (
        f"assertion.repository_owner_id == '{owner_id}' && assertion.repository_id in [{listed}]"
        f" && assertion.event_name in [{allowed}]"
        + (f" && assertion.environment == '{environment}'" if environment is not None else "")
    )


class Federation(pulumi.ComponentResource):
    """A workload identity pool for GitHub Actions."""

    provider_name: Output[str]
    """The `workload_identity_provider` of a workflow."""
    pool_name: Output[str]
    """The resource name of the pool, with the number of the project."""
    members: Mapping[str, Output[str]]
    """Repository to the IAM member that contains all its jobs."""
    trusted: Mapping[str, Output[str]]
    """Repository and branch, for example `vision-main`, to the IAM member that contains the jobs on that branch."""

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
            attribute_condition=condition(args.owner_id, args.repositories, args.environment, args.events),
            oidc={"issuer_uri": ISSUER},
            opts=fixed,
        )
        self.provider_name, self.pool_name = provider.name, pool.name
        pool_members = Output.concat("principalSet://iam.googleapis.com/", pool.name, "/attribute.")
        self.members = {
            repository: Output.concat(pool_members, "repository_id/", str(number))
            for repository, number in args.repositories.items()
        }
        self.trusted = {
            f"{repository}-{branch}": Output.concat(pool_members, f"repository_ref/{number}:refs/heads/{branch}")
            for repository, number in args.repositories.items()
            for branch in args.branches
        }
        self.register_outputs({"provider_name": self.provider_name})
