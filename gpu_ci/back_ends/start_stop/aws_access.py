"""The IAM role by which one repository starts and stops one instance of EC2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
from pulumi import Input, Output, ResourceOptions

from components.aws.documents import allow, document
from components.aws.job_role import job_role

if TYPE_CHECKING:
    from components.aws.job_role import TrustedJobs


@dataclass(frozen=True, slots=True, kw_only=True)
class StarterRoleArgs:
    """The role, the jobs that it trusts, and the instance."""

    role: str
    """The name of the role, which the workflow names."""
    account: str
    region: str
    instance: Input[str]
    """The ARN of the instance."""
    jobs: TrustedJobs


def permissions(instance: str, region: str) -> str:
    """Return the permissions: start and stop one instance, and see the instances of its region.

    EC2 knows no permission to describe one instance only (AWS Service Authorization Reference, 2026).
    """
    return document(
        allow(["ec2:StartInstances", "ec2:StopInstances"], [instance]),
        allow(["ec2:DescribeInstances"], ["*"], {"StringEquals": {"aws:RequestedRegion": region}}),
    )


class StarterRole(pulumi.ComponentResource):
    """A role without a key, for the jobs of one environment of one repository."""

    arn: Output[str]

    def __init__(self, name: str, args: StarterRoleArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:StarterRole", name, None, opts)
        self.arn = job_role(
            name,
            role=args.role,
            account=args.account,
            jobs=args.jobs,
            policy=Output.from_input(args.instance).apply(lambda arn: permissions(arn, args.region)),
            description=f"Jobs of {args.jobs.repository} that start and stop one machine",
            opts=ResourceOptions(parent=self),
        )
        self.register_outputs({"arn": self.arn})
