"""Parts that the components of one machine on EC2 share."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi_aws as aws
from pulumi import Input, Output, ResourceOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """The instance that a component starts, stops or watches."""

    title: str
    """The name of the machine."""
    account: str
    region: str
    id: Output[str]
    arn: Output[str]


def role_arn(name: str, *, trust: str, policy: Input[str], description: str, opts: ResourceOptions) -> Output[str]:
    """Declare a role with one policy, and return its ARN after it has the policy."""
    role = aws.iam.Role(name, assume_role_policy=trust, description=description, opts=opts)
    permissions = aws.iam.RolePolicy(name, role=role.name, policy=policy, opts=opts)
    return Output.all(role.arn, permissions.id).apply(lambda values: str(values[0]))
