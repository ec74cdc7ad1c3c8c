"""cirun's access to Google Cloud: a service account that may start and delete machines.

cirun takes a key that a person pastes into its dashboard. Create the key by hand, so that no state contains it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_gcp as gcp
from pulumi import Input, Output, ResourceOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class CirunGcpArgs:
    """The account and its permissions."""

    project: str
    account: str
    """The id of the service account, 6 to 30 characters."""
    role: str
    """The id of the custom role: letters, digits, dots and underscores. A deleted role keeps its id for a week."""
    title: str
    """The title of the custom role."""
    permissions: Sequence[str]
    """Permissions of the custom role, for example `compute.instances.create`."""
    runs_as: Input[str]
    """The resource name of the runners' account, the only one that cirun may attach to machines."""


class CirunGcpAccess(pulumi.ComponentResource):
    """A service account for cirun."""

    email: Output[str]

    def __init__(self, name: str, args: CirunGcpArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:gcp:CirunGoogleAccess", name, None, opts)
        child = ResourceOptions(parent=self)
        fixed = ResourceOptions.merge(child, ResourceOptions(delete_before_replace=True))
        account = gcp.serviceaccount.Account(
            name, project=args.project, account_id=args.account, display_name="cirun", opts=fixed
        )
        role = gcp.projects.IAMCustomRole(
            name,
            project=args.project,
            role_id=args.role,
            title=args.title,
            permissions=list(args.permissions),
            opts=fixed,
        )
        gcp.projects.IAMMember(name, project=args.project, role=role.name, member=account.member, opts=child)
        gcp.serviceaccount.IAMMember(
            f"{name}-runs-as",
            service_account_id=args.runs_as,
            role="roles/iam.serviceAccountUser",
            member=account.member,
            opts=child,
        )
        self.email = account.email
        self.register_outputs({"email": self.email})
