"""Small programs and plans for tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pulumi
from pulumi import ResourceOptions

from ops.plan.model import Plan, Planned
from ops.plan.stack_file import StackFile

KEY = "aws:kms/key:Key"
ROLE = "aws:iam/role:Role"
BUCKET = "gcp:storage/bucket:Bucket"
STACK = "urn:pulumi:small::gpu-ci::pulumi:pulumi:Stack::gpu-ci-small"


def stack_file(config: Mapping[str, str] | None = None, secret: frozenset[str] = frozenset()) -> StackFile:
    """Return a stack file named `small` with this configuration."""
    return StackFile(name="small", path=Path("Pulumi.small.yaml"), config=config or {}, secret_keys=secret)


class Box(pulumi.ComponentResource):
    """A component with nothing in it."""

    def __init__(self, name: str, opts: ResourceOptions | None = None, type_: str = "gpu-ci:aws:Box") -> None:
        super().__init__(type_, name, None, opts)


class Thing(pulumi.CustomResource):
    """A resource of any type, without the package of its provider."""

    arn: pulumi.Output[str]
    metadata: pulumi.Output[dict[str, Any]]

    def __init__(
        self, type_: str, name: str, props: dict[str, Any] | None = None, opts: ResourceOptions | None = None
    ) -> None:
        super().__init__(type_, name, {"arn": None, **(props or {})}, opts)


def makes(type_: str, name: str, opts: ResourceOptions | None = None) -> Callable[[], None]:
    """Return a program that declares one resource."""

    def program() -> None:
        Thing(type_, name, opts=opts)

    return program


def planned(type_: str, name: str, **rest: Any) -> Planned:
    """Return a resource of a plan with defaults."""
    facts: dict[str, Any] = {
        "urn": f"urn:pulumi:small::gpu-ci::{type_}::{name}",
        "type": type_,
        "name": name,
        "inputs": {},
        "custom": not type_.startswith(("gpu-ci:", "pulumi:pulumi:")),
        "parent": STACK,
        "provider": "",
        "dependencies": (),
        "property_dependencies": {},
        "protect": False,
        "retain_on_delete": False,
        "deleted_with": "",
        "ignore_changes": (),
        "delete_before_replace": False,
        "aliases": (),
        "secret_paths": frozenset(),
        "unknown_paths": frozenset(),
    }
    return Planned(**{**facts, **rest})


def plan(*resources: Planned, **rest: Any) -> Plan:
    """Return a plan of these resources in a stack."""
    stack = planned("pulumi:pulumi:Stack", "gpu-ci-small", urn=STACK, parent="")
    return Plan(stack="small", resources=(stack, *resources), **rest)
