"""The IAM role by which one repository starts and stops one instance of EC2."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws
from pulumi import Input, Output, ResourceOptions

from components.aws.documents import allow, document
from components.aws.github_trust import provider_arn, trust_policy


@dataclass(frozen=True, slots=True, kw_only=True)
class StarterRoleArgs:
    """The role, the jobs that it trusts, and the instance."""

    role: str
    """The name of the role, which the workflow names."""
    account: str
    region: str
    instance: Input[str]
    """The ARN of the instance."""
    repository: str
    """`OWNER/NAME`."""
    repository_id: int
    owner_id: int
    environment: str
    """The environment of the jobs."""


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
        child = ResourceOptions(parent=self)
        trust = trust_policy(
            provider_arn(args.account),
            args.repository,
            args.owner_id,
            args.repository_id,
            environment=args.environment,
        )
        role = aws.iam.Role(
            name,
            name=args.role,
            assume_role_policy=json.dumps(trust, sort_keys=True),
            description=f"Jobs of {args.repository} that start and stop one machine",
            opts=ResourceOptions.merge(child, ResourceOptions(delete_before_replace=True)),
        )
        aws.iam.RolePolicy(
            name,
            role=role.name,
            policy=Output.from_input(args.instance).apply(lambda arn: permissions(arn, args.region)),
            opts=child,
        )
        self.arn = role.arn
        self.register_outputs({"arn": self.arn})
