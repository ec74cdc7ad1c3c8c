"""An extended stack keeps its resources: names and addresses do not depend on the position in a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pytest
from pulumi import ResourceOptions

from ops.plan.model import Plan
from ops.plan.recorder import record
from ops.plan.stack_file import StackFile
from tests.ops.small import KEY, Box, Thing
from tests.ops.small import stack_file as small_stack_file
from tests.plan import stacks

pytestmark = pytest.mark.plan


CHANGED: Final = frozenset({"network-s3: routeTableIds"})
"""The only input that may change: the endpoint adds a route table without a replacement."""


def differences(before: Plan, after: Plan) -> Iterator[str]:
    """Yield the resources of `before` that are missing in `after`, and the inputs that differ."""
    there = {resource.urn: resource for resource in after}
    for resource in before:
        if resource.urn not in there:
            yield f"{resource.urn} is missing"
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


def test_a_new_zone_changes_no_existing_resource() -> None:
    grown = staging_with("network", lambda network: network["zones"].update({"us-west-2d": 3}))

    assert set(differences(stacks.planned(stacks.STAGING), grown)) == CHANGED
    assert len(grown) > len(stacks.planned(stacks.STAGING))


def test_a_new_zone_with_slot_0_keeps_the_stated_gateway() -> None:
    def renumber(network: dict[str, Any]) -> None:
        network |= {"nat-zone": "us-west-2b", "zones": {"us-west-2a": 3, "us-west-2b": 1, "us-west-2c": 2}}

    def add(network: dict[str, Any]) -> None:
        renumber(network)
        network["zones"]["us-west-2d"] = 0

    found = set(differences(staging_with("network", renumber), staging_with("network", add)))

    assert found == CHANGED


def test_a_new_zone_keeps_the_subnets_of_node_groups_and_the_control_plane() -> None:
    """Any change of the subnets replaces a node group. EKS refuses such a change of a cluster."""
    before = stacks.planned(stacks.STAGING)
    grown = staging_with("network", lambda network: network["zones"].update({"us-west-2d": 3}))
    (cluster,) = before.of("aws:eks/cluster:Cluster")
    groups = [resource for resource in before if resource.type == "aws:eks/nodeGroup:NodeGroup"]

    assert grown.one(cluster.type, cluster.name).inputs["vpcConfig"] == cluster.inputs["vpcConfig"]
    assert [grown.one(group.type, group.name).inputs["subnetIds"] for group in groups] == [
        group.inputs["subnetIds"] for group in groups
    ]
    assert len(groups) == 3


def test_a_new_runner_changes_no_existing_resource() -> None:
    def add(runners: dict[str, Any]) -> None:
        runners["gpu-more"] = {**runners["gpu-t4"], "arc": {**runners["gpu-t4"]["arc"], "max": 1}}

    grown = staging_with("runners", add)

    assert list(differences(stacks.planned(stacks.STAGING), grown)) == []
    assert {resource.name for resource in grown} - {resource.name for resource in stacks.planned(stacks.STAGING)} == {
        "runner-gpu-more",
        "runner-gpu-more-listener",
    }


def test_a_new_repository_changes_no_existing_resource() -> None:
    grown = staging_with("ecr", lambda ecr: ecr.update({"another": ecr["runner-gpu"]}))

    assert list(differences(stacks.planned(stacks.STAGING), grown)) == []


@pytest.mark.parametrize(("section", "key"), [("network", "zones"), ("gpu-pools", None), ("runners", None)])
def test_the_order_in_the_stack_file_changes_nothing(section: str, key: str | None) -> None:
    def reverse(value: dict[str, Any]) -> None:
        entries = value[key] if key else value
        items = list(reversed(entries.items()))
        entries.clear()
        entries.update(items)

    reordered = staging_with(section, reverse)

    assert sorted(reordered.urns) == sorted(stacks.planned(stacks.STAGING).urns)
    assert list(differences(stacks.planned(stacks.STAGING), reordered)) == []


def numbered(zones: Mapping[str, int]) -> Callable[[], None]:
    """Return a program that names resources by their position in a list."""

    def program() -> None:
        box = Box("box")
        for index, zone in enumerate(zones):
            Thing(KEY, f"key-{index}", {"zone": zone}, ResourceOptions(parent=box))

    return program


def test_resource_names_with_a_position_change_existing_resources() -> None:
    file: StackFile = small_stack_file()

    before = record(file, program=numbered({"b": 0, "c": 1}))
    after = record(file, program=numbered({"a": 2, "b": 0, "c": 1}))

    assert list(differences(before, after)) == ["key-0: zone", "key-1: zone"]
