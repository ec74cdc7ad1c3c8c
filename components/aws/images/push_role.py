"""The IAM role with which the workflows of one GitHub repository push images to one ECR repository."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi import Output, ResourceOptions

from components.aws.images.image_push import permissions, repository_arn
from components.aws.job_role import TrustedJobs, job_role


@dataclass(frozen=True, slots=True, kw_only=True)
class PushRoleArgs:
    """The role, the jobs that it trusts, and the ECR repository."""

    role: str
    """The name of the role, which the workflow states."""
    account: str
    region: str
    target: str
    """The ECR repository, with its prefix."""
    jobs: TrustedJobs
    """The jobs that may assume the role."""


class PushRole(pulumi.ComponentResource):
    """A role without a key, for the jobs on one branch of one repository."""

    arn: Output[str]

    def __init__(self, name: str, args: PushRoleArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:PushRole", name, None, opts)
        self.arn = job_role(
            name,
            role=args.role,
            account=args.account,
            jobs=args.jobs,
            policy=permissions(repository_arn(args.account, args.region, args.target)),
            description=f"Jobs of {args.jobs.repository} that push images to {args.target}",
            opts=ResourceOptions(parent=self),
        )
        self.register_outputs({"arn": self.arn})
