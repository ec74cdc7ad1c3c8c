"""The access by which one repository starts and stops one instance of Compute Engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_gcp as gcp
from pulumi import Input, Output, ResourceOptions

INSTANCE: Final = (
    "compute.instances.get",
    "compute.instances.getGuestAttributes",
    "compute.instances.start",
    "compute.instances.stop",
)
"""Permissions on the instance (Google Cloud, "Compute Engine API: instances", 2026)."""
PROJECT: Final = ("compute.zoneOperations.get",)
"""Permissions that no condition can limit to an instance: the result of a start, as when a zone has no capacity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StarterAccessArgs:
    """The jobs that are trusted, and the instance."""

    project: str
    zone: str
    instance: str
    """The name of the instance."""
    role: str
    """The start of the ids of both roles: letters, digits, dots and underscores."""
    pool: Input[str]
    """The resource name of the identity pool that accepts GitHub's tokens."""
    subjects: Sequence[str]
    """The subjects of the jobs' tokens."""


def condition(project: str, zone: str, instance: str) -> str:
    """Return the condition that limits a role to one instance. It also holds for the instance that replaces it."""
    name = f"projects/{project}/zones/{zone}/instances/{instance}"
    return f'resource.type == "compute.googleapis.com/Instance" && resource.name == "{name}"'


class StarterAccess(pulumi.ComponentResource):
    """Permissions of a repository's jobs, which need neither a key nor a service account."""

    def __init__(self, name: str, args: StarterAccessArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:gcp:StarterAccess", name, None, opts)
        fixed = ResourceOptions(parent=self, delete_before_replace=True)
        limit = gcp.projects.IAMMemberConditionArgs(
            title=f"only {args.instance}", expression=condition(args.project, args.zone, args.instance)
        )
        for kind, stated, only in (("instance", INSTANCE, limit), ("operations", PROJECT, None)):
            role = gcp.projects.IAMCustomRole(
                f"{name}-{kind}",
                project=args.project,
                role_id=f"{args.role}_{kind}",
                title=f"gpu-ci: {kind} of {args.instance}"[:100],
                permissions=list(stated),
                opts=fixed,
            )
            for form, subject in zip(("name", "number"), args.subjects, strict=True):
                gcp.projects.IAMMember(
                    f"{name}-{kind}-by-{form}",
                    project=args.project,
                    role=role.name,
                    member=Output.concat("principal://iam.googleapis.com/", args.pool, "/subject/", subject),
                    condition=only,
                    opts=ResourceOptions(parent=self),
                )
        self.register_outputs({})
