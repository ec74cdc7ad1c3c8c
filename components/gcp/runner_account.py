"""The service account of GPU machines: it can pull images and write logs and metrics."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_gcp as gcp
from pulumi import Output, ResourceOptions

ROLES = ("logging.logWriter", "monitoring.metricWriter")
"""The roles of a machine in the project. The repositories grant the permission to pull images."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerAccountArgs:
    """A service account."""

    project: str
    account: str
    """The id of the account, 6 to 30 characters."""


class RunnerAccount(pulumi.ComponentResource):
    """A service account without a key. Every job on a machine can use it through the metadata server."""

    email: Output[str]
    member: Output[str]
    """The account in the form that IAM bindings use: `serviceAccount:EMAIL`."""
    account_id: Output[str]
    """The resource name, for roles on the account itself."""

    def __init__(self, name: str, args: RunnerAccountArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:gcp:RunnerAccount", name, None, opts)
        child = ResourceOptions(parent=self)
        account = gcp.serviceaccount.Account(
            name,
            project=args.project,
            account_id=args.account,
            display_name="GPU runners",
            # The id is its address: the old account must be deleted before the new one is created.
            opts=ResourceOptions.merge(child, ResourceOptions(delete_before_replace=True)),
        )
        for role in ROLES:
            gcp.projects.IAMMember(
                f"{name}-{role}", project=args.project, role=f"roles/{role}", member=account.member, opts=child
            )
        self.email, self.member, self.account_id = account.email, account.member, account.name
        self.register_outputs({"email": self.email})
