"""A stack grows without touching what is there: names and addresses follow meaning, never place in a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from pulumi import ResourceOptions

from ops.plan.recorder import record
from tests.ops.small import KEY, Box, Thing
from tests.ops.small import stack_file as small_stack_file
from tests.plan import stacks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ops.plan.model import Plan
    from ops.plan.stack_file import StackFile

pytestmark = pytest.mark.plan


GROWS: Final = frozenset({"network-s3: routeTableIds"})
"""The one list that may have more in it than before: the endpoint takes another route table in place."""


def touched(before: Plan, after: Plan) -> Iterator[str]:
    """What of `before` is gone or different in `after`."""
    there = {resource.urn: resource for resource in after}
    for resource in before:
        if resource.urn not in there:
            yield f"{resource.urn} is gone"
        else:
            yield from (f"{resource.name}: {path}" for path in _changed(resource.inputs, there[resource.urn].inputs))


def _changed(before: Any, after: Any, path: str = "") -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            yield from _changed(before.get(key), after.get(key), f"{path}.{key}".lstrip("."))
    elif isinstance(before, list) and isinstance(after, list):
        if before != after:
            yield path
    elif before != after:
        yield path


def staging_with(section: str, change: Callable[[Any], None]) -> Plan:
    return record(stacks.changed(stacks.STAGING, section, change))


def test_a_new_zone_touches_nothing_that_was_there() -> None:
    grown = staging_with("network", lambda network: network["zones"].update({"us-west-2d": 3}))

    assert set(touched(stacks.planned(stacks.STAGING), grown)) == GROWS
    assert len(grown) > len(stacks.planned(stacks.STAGING))


def test_a_new_zone_moves_neither_a_node_group_nor_the_control_plane() -> None:
    """A node group is made anew where its subnets change, even where they only become more; a cluster is refused it."""
    before = stacks.planned(stacks.STAGING)
    grown = staging_with("network", lambda network: network["zones"].update({"us-west-2d": 3}))
    (cluster,) = before.of("aws:eks/cluster:Cluster")
    groups = [resource for resource in before if resource.type == "aws:eks/nodeGroup:NodeGroup"]

    assert grown.one(cluster.type, cluster.name).inputs["vpcConfig"] == cluster.inputs["vpcConfig"]
    assert [grown.one(group.type, group.name).inputs["subnetIds"] for group in groups] == [
        group.inputs["subnetIds"] for group in groups
    ]
    assert len(groups) == 3


def test_a_new_runner_touches_nothing_that_was_there() -> None:
    def add(runners: dict[str, Any]) -> None:
        runners["gpu-more"] = {**runners["gpu-t4"], "arc": {**runners["gpu-t4"]["arc"], "max": 1}}

    grown = staging_with("runners", add)

    assert list(touched(stacks.planned(stacks.STAGING), grown)) == []
    assert {resource.name for resource in grown} - {resource.name for resource in stacks.planned(stacks.STAGING)} == {
        "runner-gpu-more"
    }


def test_a_new_repository_touches_nothing_that_was_there() -> None:
    grown = staging_with("ecr", lambda ecr: ecr.update({"another": ecr["runner-gpu"]}))

    assert list(touched(stacks.planned(stacks.STAGING), grown)) == []


@pytest.mark.parametrize(("section", "key"), [("network", "zones"), ("gpu-pools", None), ("runners", None)])
def test_the_order_in_the_stack_file_means_nothing(section: str, key: str | None) -> None:
    def turn(value: dict[str, Any]) -> None:
        turned = value[key] if key else value
        items = list(reversed(turned.items()))
        turned.clear()
        turned.update(items)

    turned = staging_with(section, turn)

    assert sorted(turned.urns) == sorted(stacks.planned(stacks.STAGING).urns)
    assert list(touched(stacks.planned(stacks.STAGING), turned)) == []


def numbered(zones: Mapping[str, int]) -> Callable[[], None]:
    """A program that names things by their place in a list: what none may do."""

    def program() -> None:
        box = Box("box")
        for index, zone in enumerate(zones):
            Thing(KEY, f"key-{index}", {"zone": zone}, ResourceOptions(parent=box))

    return program


def test_a_program_that_counts_touches_what_was_there() -> None:
    file: StackFile = small_stack_file()

    before = record(file, program=numbered({"b": 0, "c": 1}))
    after = record(file, program=numbered({"a": 2, "b": 0, "c": 1}))

    assert list(touched(before, after)) == ["key-0: zone", "key-1: zone"]
