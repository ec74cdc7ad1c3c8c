"""Access for the jobs that preview a stack: they read the state and the clouds, and change nothing.

`preview` are the jobs of pull requests; `plan` are those on the branch of the deployment, which save its plan and look
for drift. A preview takes no lock and writes nothing into the state (pulumi/pulumi#8642). It decrypts the secrets of
the stack, because the program needs them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bootstrap.grants import PATH, Place
from bootstrap.permissions_aws import AWS, by_chapter
from bootstrap.permissions_gcp import READER
from components.aws.documents import allow, document
from components.aws.github_trust import PULL_REQUESTS, trust_policy

if TYPE_CHECKING:
    import pulumi_gcp as gcp
    from pulumi import Output, ResourceOptions

    from bootstrap.settings import BootstrapSettings

KINDS: Final = ("preview", "plan")
READS: Final = ("Describe", "Get", "List")
"""The first words of the actions that change nothing (AWS, "Service Authorization Reference", 2026)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """The jobs of one kind."""

    kind: str
    environment: str
    branch: str | None
    """Their branch; None for pull requests."""


def jobs(settings: BootstrapSettings) -> Iterator[Jobs]:
    """Yield the stated kinds of jobs."""
    if settings.preview is not None:
        yield Jobs(kind="preview", environment=settings.preview.environment, branch=None)
    if settings.plan is not None:
        yield Jobs(kind="plan", environment=settings.plan.environment, branch=settings.deploy.branch)


def read_policies(place: Place) -> dict[str, str]:
    """Return the policies of the roles on AWS, by name: the reads of the role that deploys, and nothing else."""
    reads = [
        replace(grant, verbs=verbs)
        for row in AWS.values()
        for grant in row
        if (verbs := tuple(verb for verb in grant.verbs if verb.startswith(READS)))
    ]
    return by_chapter(reads, place)


def on_aws(
    settings: BootstrapSettings,
    place: Place,
    provider: str,
    state: tuple[str, Output[str]],
    opts: ResourceOptions,
) -> dict[str, Output[str]]:
    """Declare the roles on AWS; return their ARNs by the kind of jobs.

    Args:
        settings: the settings of the stack.
        place: the account and the stack.
        provider: the ARN of the provider for GitHub.
        state: the ARNs of the bucket and of the key.
        opts: the provider of Pulumi, and the provider for GitHub as a dependency.

    """
    import pulumi_aws as aws

    stated = list(jobs(settings))
    policies = {
        chapter: aws.iam.Policy(
            f"read-{chapter}", name=f"{place.prefix}-read-{chapter}", path=PATH, policy=text, opts=opts
        )
        for chapter, text in (read_policies(place) if stated else {}).items()
    }
    bucket, key = state
    of_state = key.apply(
        lambda key_arn: document(
            allow(["s3:ListBucket"], [bucket]),
            allow(["s3:GetObject"], [f"{bucket}/*"]),
            allow(["kms:Decrypt"], [key_arn]),
        )
    )
    roles: dict[str, Output[str]] = {}
    for one in stated:
        trusted = trust_policy(
            provider,
            settings.deploy.repository,
            settings.deploy.owner_id,
            settings.deploy.repository_id,
            environment=one.environment,
            ref=f"refs/heads/{one.branch}" if one.branch is not None else PULL_REQUESTS,
        )
        role = aws.iam.Role(
            one.kind,
            name=f"{place.prefix}-{one.kind}",
            path=PATH,
            description=f"Previews {place.prefix}",
            assume_role_policy=json.dumps(trusted, sort_keys=True),
            opts=opts,
        )
        aws.iam.RolePolicy(f"{one.kind}-state", role=role.name, policy=of_state, opts=opts)
        for chapter, policy in policies.items():
            aws.iam.RolePolicyAttachment(f"{one.kind}-{chapter}", role=role.name, policy_arn=policy.arn, opts=opts)
        roles[one.kind] = role.arn
    return roles


def on_gcp(
    settings: BootstrapSettings, project: str, prefix: str, opts: ResourceOptions
) -> dict[str, tuple[gcp.serviceaccount.Account, Output[str]]]:
    """Declare the service accounts on Google Cloud; return them, with the names of their providers for GitHub."""
    import pulumi_gcp as gcp

    from components.gcp.federation import EVENTS, Federation, FederationArgs

    made: dict[str, tuple[gcp.serviceaccount.Account, Output[str]]] = {}
    for one in jobs(settings):
        account = gcp.serviceaccount.Account(
            one.kind,
            project=project,
            # `-preview` would exceed the 30 characters of an id.
            account_id=f"{prefix}-{'reader' if one.branch is None else one.kind}",
            display_name=f"Previews {prefix}",
            opts=opts,
        )
        federation = Federation(
            f"{one.kind}-federation",
            FederationArgs(
                project=project,
                pool=f"{prefix}-{one.kind}",
                owner_id=settings.deploy.owner_id,
                repositories={one.kind: settings.deploy.repository_id},
                branches=(one.branch,) if one.branch is not None else (),
                environment=one.environment,
                events=EVENTS if one.branch is not None else ("pull_request",),
            ),
            opts,
        )
        trusted = {**federation.members, **federation.trusted}
        gcp.serviceaccount.IAMMember(
            one.kind,
            service_account_id=account.name,
            role="roles/iam.workloadIdentityUser",
            member=trusted[f"{one.kind}-{one.branch}" if one.branch is not None else one.kind],
            opts=opts,
        )
        for role in READER:
            gcp.projects.IAMMember(
                f"{one.kind}-{role}", project=project, role=f"roles/{role}", member=account.member, opts=opts
            )
        made[one.kind] = account, federation.provider_name
    return made
