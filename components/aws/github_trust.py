"""The trust of a role in the jobs of one GitHub repository, through OpenID Connect. Pure.

Subjects: GitHub, "OpenID Connect reference", 2026. Conditions: AWS, "IAM and STS condition context keys", 2026; since
January 2026 AWS STS reads `repository_id` and `ref` of GitHub's tokens in addition to the audience and the subject.
"""

from __future__ import annotations

from typing import Any, Final

HOST: Final = "token.actions.githubusercontent.com"
AUDIENCE: Final = "sts.amazonaws.com"
"""The audience that `aws-actions/configure-aws-credentials` requests."""


PULL_REQUESTS: Final = "refs/pull/*/merge"
"""The refs of jobs of the event `pull_request`. Jobs of `pull_request_target` have the ref of the base branch."""


def provider_arn(account: str) -> str:
    """Return the ARN of the account's provider for GitHub. An account has at most one for each address."""
    return f"arn:aws:iam::{account}:oidc-provider/{HOST}"


def subjects(
    repository: str, owner_id: int, repository_id: int, *, environment: str | None = None, ref: str | None = None
) -> list[str]:
    """Return the subjects of the tokens of a job: `repo:owner/name:…` and `repo:owner@id/name@id:…`.

    Repositories that were created, renamed or transferred since 15 July 2026 send the second form. A job with an
    environment names it instead of its ref.

    Raises:
        ValueError: there is neither an environment nor a ref, so every job of the repository would be trusted.

    """
    if environment is None and ref is None:
        raise ValueError(f"the trust in {repository} needs an environment or a ref")
    owner, _, name = repository.partition("/")
    job = f"environment:{environment}" if environment is not None else f"ref:{ref}"
    return [f"repo:{owner}/{name}:{job}", f"repo:{owner}@{owner_id}/{name}@{repository_id}:{job}"]


def trust_policy(
    provider_arn: str,
    repository: str,
    owner_id: int,
    repository_id: int,
    environment: str | None = None,
    ref: str | None = None,
) -> dict[str, Any]:
    """Return the trust policy of a role that only jobs of one repository can assume.

    Args:
        provider_arn: the provider of the account, see `provider_arn`.
        repository: the owner and the name as GitHub spells them: `acme/gpu-infra`.
        owner_id: the number of the owner.
        repository_id: the number of the repository. A name can be registered again after it is released, but never a
            number, so this number is also a condition for subjects without numbers.
        environment: the environment of the job.
        ref: the ref of the job, as in `refs/heads/main`, or `PULL_REQUESTS`. With an environment, both are required.

    """
    claims = {
        "aud": AUDIENCE,
        "sub": subjects(repository, owner_id, repository_id, environment=environment, ref=ref),
        "repository_id": str(repository_id),
    }
    conditions: dict[str, dict[str, Any]] = {
        # StringEquals compares case and knows no wildcard, unlike StringLike.
        "StringEquals": {f"{HOST}:{claim}": value for claim, value in claims.items()}
    }
    if ref is not None:
        operator = "StringLike" if ref == PULL_REQUESTS else "StringEquals"
        conditions.setdefault(operator, {})[f"{HOST}:ref"] = ref
    statement = {
        "Effect": "Allow",
        "Principal": {"Federated": provider_arn},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": conditions,
    }
    return {"Version": "2012-10-17", "Statement": [statement]}
