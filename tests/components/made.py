"""A recorded plan of the components that a test creates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import networkx as nx
import pulumi_aws as aws
import pulumi_command as command
import pulumi_kubernetes as k8s
from pulumi import ResourceOptions

from ops.plan.model import Plan, Planned
from ops.plan.recorder import record
from tests.ops.small import KEY, Thing, stack_file
from tests.plan.laws import edges

TAGS: Final = {"Project": "gpu-ci", "Environment": "small"}


def made(build: Callable[[ResourceOptions], object]) -> Plan:
    """Return the plan of the resources that `build` creates, with a provider of each kind."""

    def program() -> None:
        account = aws.Provider("aws", region="us-west-2", allowed_account_ids=["123456789012"])
        inside = k8s.Provider("inside", kubeconfig="{}")
        build(ResourceOptions(providers=[account, inside, command.Provider("commands")]))

    return record(stack_file(), program=program)


def before(name: str) -> Thing:
    """Return a resource to depend on. A component without children has nothing to wait for."""
    return Thing(KEY, name)


def waits_for(plan: Plan, later: Planned, earlier: Planned) -> bool:
    """Return whether `later` is created after `earlier` and deleted before it."""
    return bool(nx.has_path(edges(plan), later.urn, earlier.urn))


def names(plan: Plan, type_: str) -> list[str]:
    """Return the sorted names of the resources of a type."""
    return sorted(resource.name for resource in plan.of(type_))


def only(plan: Plan, type_: str) -> Planned:
    """Return the only resource of a type."""
    (found,) = plan.of(type_)
    return found


def part(resource: Planned, *path: str) -> Any:
    """Return the value at `path` in a resource's inputs."""
    value: Any = resource.inputs
    for step in path:
        value = value[step]
    return value
