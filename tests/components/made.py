"""Components alone, as they would be registered: a plan of nothing but what a test makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import networkx as nx
import pulumi_aws as aws
import pulumi_kubernetes as k8s
from pulumi import ResourceOptions

from ops.plan.recorder import record
from tests.ops.small import KEY, Thing, stack_file
from tests.plan.laws import edges

if TYPE_CHECKING:
    from collections.abc import Callable

    from ops.plan.model import Plan, Planned

TAGS: Final = {"Project": "gpu-ci", "Environment": "small"}


def made(build: Callable[[ResourceOptions], object]) -> Plan:
    """The plan of what `build` makes, with a provider of each kind."""

    def program() -> None:
        account = aws.Provider("aws", region="us-west-2", allowed_account_ids=["123456789012"])
        build(ResourceOptions(providers=[account, k8s.Provider("inside", kubeconfig="{}")]))

    return record(stack_file(), program=program)


def before(name: str) -> Thing:
    """Something that must stand before something else. A component without children would be nothing to wait for."""
    return Thing(KEY, name)


def waits_for(plan: Plan, later: Planned, earlier: Planned) -> bool:
    """Whether `later` is made after `earlier`, and taken down before it."""
    return bool(nx.has_path(edges(plan), later.urn, earlier.urn))


def names(plan: Plan, type_: str) -> list[str]:
    """The names of one type's resources, sorted."""
    return sorted(resource.name for resource in plan.of(type_))


def only(plan: Plan, type_: str) -> Planned:
    """The one resource of a type."""
    (found,) = plan.of(type_)
    return found


def part(resource: Planned, *path: str) -> Any:
    """What stands at `path` in a resource's inputs."""
    value: Any = resource.inputs
    for step in path:
        value = value[step]
    return value
