"""The account that GPU machines run as: it can pull images and write logs, and nothing else."""

from __future__ import annotations

import pulumi
import pulumi_gcp as gcp
from pulumi import Output, ResourceOptions

ROLES = ("logging.logWriter", "monitoring.metricWriter")
"""What every machine may do in the project. Pulling images is granted on the repository."""


class RunnerAccount(pulumi.ComponentResource):
    """A service account without a key: machines take it from their metadata, and any job on one can use it."""

    email: Output[str]
    member: Output[str]
    """As roles name it: `serviceAccount:EMAIL`."""
    account_id: Output[str]
    """The resource name, for roles on the account itself."""

    def __init__(self, name: str, *, project: str, account: str, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:gcp:RunnerAccount", name, None, opts)
        child = ResourceOptions(parent=self)
        made = gcp.serviceaccount.Account(
            name,
            project=project,
            account_id=account,
            display_name="GPU runners",
            # The id is its address, so that a new one cannot be made beside the old.
            opts=ResourceOptions.merge(child, ResourceOptions(delete_before_replace=True)),
        )
        for role in ROLES:
            gcp.projects.IAMMember(
                f"{name}-{role}", project=project, role=f"roles/{role}", member=made.member, opts=child
            )
        self.email, self.member, self.account_id = made.email, made.member, made.name
        self.register_outputs({"email": self.email})
