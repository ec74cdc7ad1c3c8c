"""What cirun is let in with on Google Cloud: an account of its own with as little as starting machines takes.

cirun takes a key that is pasted into its dashboard. The key is made by hand: no state ever holds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
import pulumi_gcp as gcp
from pulumi import Output, ResourceOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pulumi import Input


@dataclass(frozen=True, slots=True, kw_only=True)
class CirunGoogleArgs:
    """Where, and what it may do."""

    project: str
    account: str
    """The account's id."""
    role: str
    """The custom role's id: letters, digits, dots and underscores. A deleted one keeps its id for a week."""
    title: str
    permissions: Sequence[str]
    runs_as: Input[str]
    """The account that runners run as, by its resource name: cirun may hand that one out, and no other."""


class CirunGoogleAccess(pulumi.ComponentResource):
    """A service account for cirun."""

    email: Output[str]

    def __init__(self, name: str, args: CirunGoogleArgs, opts: ResourceOptions | None = None) -> None:
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
