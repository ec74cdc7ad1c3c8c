"""An IAM role for the jobs of one GitHub repository, without a key: a building block."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pulumi_aws as aws
from pulumi import Input, Output, ResourceOptions

from components.aws.github_trust import provider_arn, trust_policy


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedJobs:
    """The jobs that may assume a role: those of one environment, or of one ref."""

    repository: str
    """`OWNER/NAME` at GitHub."""
    repository_id: int
    """The number of that repository. A name can be registered again, but a number never."""
    owner_id: int
    """The number of its owner."""
    environment: str | None = None
    """The environment of the jobs; None for those of a ref."""
    ref: str | None = None
    """The ref, as in `refs/heads/main`; None for those of an environment. A pull request has another one."""


def job_role(
    name: str,
    *,
    role: str,
    account: str,
    jobs: TrustedJobs,
    policy: Input[str],
    description: str,
    opts: ResourceOptions,
) -> Output[str]:
    """Declare a role and its permissions, and return its ARN.

    Args:
        name: the logical name of both resources.
        role: the name of the role, which the workflow states.
        account: the AWS account.
        jobs: the jobs that may assume it.
        policy: the permission document, as JSON.
        description: the description of the role in IAM.
        opts: options of both resources.

    """
    trust = trust_policy(
        provider_arn(account),
        jobs.repository,
        jobs.owner_id,
        jobs.repository_id,
        environment=jobs.environment,
        ref=jobs.ref,
    )
    made = aws.iam.Role(
        name,
        name=role,
        assume_role_policy=json.dumps(trust, sort_keys=True),
        description=description,
        opts=ResourceOptions.merge(opts, ResourceOptions(delete_before_replace=True)),
    )
    aws.iam.RolePolicy(name, role=made.name, policy=policy, opts=opts)
    return made.arn
