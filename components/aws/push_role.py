"""The IAM role with which the workflows of one GitHub repository push images to one ECR repository."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws
from pulumi import Output, ResourceOptions

from components.aws.github_trust import provider_arn, trust_policy
from components.aws.image_push import permissions, repository_arn


@dataclass(frozen=True, slots=True, kw_only=True)
class PushRoleArgs:
    """The role, the jobs that it trusts, and the ECR repository."""

    role: str
    """The name of the role, which the workflow states."""
    account: str
    region: str
    target: str
    """The ECR repository, with its prefix."""
    repository: str
    """`OWNER/NAME` at GitHub."""
    repository_id: int
    """The number of that repository. A name can be registered again, but a number never."""
    owner_id: int
    """The number of its owner."""
    branch: str
    """The branch of the jobs. A pull request has another ref."""


class PushRole(pulumi.ComponentResource):
    """A role without a key, for the jobs on one branch of one repository."""

    arn: Output[str]

    def __init__(self, name: str, args: PushRoleArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:PushRole", name, None, opts)
        child = ResourceOptions(parent=self)
        trust = trust_policy(
            provider_arn(args.account),
            args.repository,
            args.owner_id,
            args.repository_id,
            ref=f"refs/heads/{args.branch}",
        )
        role = aws.iam.Role(
            name,
            name=args.role,
            assume_role_policy=json.dumps(trust, sort_keys=True),
            description=f"Jobs of {args.repository} that push images to {args.target}",
            opts=ResourceOptions.merge(child, ResourceOptions(delete_before_replace=True)),
        )
        aws.iam.RolePolicy(
            name,
            role=role.name,
            policy=permissions(repository_arn(args.account, args.region, args.target)),
            opts=child,
        )
        self.arn = role.arn
        self.register_outputs({"arn": self.arn})
