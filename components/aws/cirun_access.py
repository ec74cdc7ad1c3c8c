"""What cirun is let in with on AWS: a user of its own with as little as starting instances takes.

cirun takes an access key that is pasted into its dashboard; it offers no role. The key is made by hand: no state ever
holds it.
"""

from __future__ import annotations

import pulumi
import pulumi_aws as aws
from pulumi import Output, ResourceOptions


class CirunAmazonAccess(pulumi.ComponentResource):
    """An IAM user for cirun, without a key and without a console password."""

    user_name: Output[str]

    def __init__(self, name: str, *, user: str, policy: str, opts: ResourceOptions | None = None) -> None:
        """Make it.

        Args:
            name: the logical name.
            user: the user's name, which the key is made for by hand.
            policy: the permission document.
            opts: the caller's options.

        """
        super().__init__("gpu-ci:aws:CirunAmazonAccess", name, None, opts)
        child = ResourceOptions(parent=self)
        made = aws.iam.User(
            name,
            name=user,
            path="/cirun/",
            # A key made by hand would otherwise hold the user back when the stack goes.
            force_destroy=True,
            opts=ResourceOptions.merge(child, ResourceOptions(delete_before_replace=True)),
        )
        aws.iam.UserPolicy(name, user=made.name, policy=policy, opts=child)
        self.user_name = made.name
        self.register_outputs({"user_name": self.user_name})
