"""cirun's access to AWS: an IAM user that may start and stop instances.

cirun takes an access key that a person pastes into its dashboard; it supports no role. Create the key by hand, so that
no state contains it.
"""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_aws as aws
from pulumi import Input, Output, ResourceOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class CirunAwsArgs:
    """The user and its permissions."""

    user: str
    """The name of the IAM user."""
    policy: Input[str]
    """The permission document, as JSON."""


class CirunAwsAccess(pulumi.ComponentResource):
    """An IAM user for cirun, without a key and without a console password."""

    user_name: Output[str]

    def __init__(self, name: str, args: CirunAwsArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:CirunAmazonAccess", name, None, opts)
        child = ResourceOptions(parent=self)
        user = aws.iam.User(
            name,
            name=args.user,
            path="/cirun/",
            # AWS does not delete a user that has a key, and the key is created by hand.
            force_destroy=True,
            opts=ResourceOptions.merge(child, ResourceOptions(delete_before_replace=True)),
        )
        aws.iam.UserPolicy(name, user=user.name, policy=args.policy, opts=child)
        self.user_name = user.name
        self.register_outputs({"user_name": self.user_name})
