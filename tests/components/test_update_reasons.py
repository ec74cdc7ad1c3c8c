"""The updates of a running cluster that EKS refuses, or that replace running nodes."""

from __future__ import annotations

from typing import Any

import pytest

from components.aws.cluster.update_reasons import refused_sizes, refused_subnets, replaced_nodes
from components.update_guard import Update

pytestmark = pytest.mark.pure

GROUP = {
    "version": "1.35",
    "releaseVersion": "1.35.6-20260714",
    "launchTemplate": {"id": "lt-1", "version": "1"},
    "scalingConfig": {"minSize": 0, "desiredSize": 2, "maxSize": 5},
}


def group(running: int = 2, **changes: Any) -> Update:
    outputs = {
        "arn": "arn:aws:eks:us-west-2:123456789012:nodegroup/ci/t4-spot-1/uuid",
        "clusterName": "ci",
        "nodeGroupName": "t4-spot-1",
        "scalingConfig": {"minSize": 0, "desiredSize": running, "maxSize": 5},
    }
    return Update(name="pool-t4-spot", old_inputs=GROUP, new_inputs={**GROUP, **changes}, old_outputs=outputs)


def sizes(least: int, most: int) -> dict[str, int]:
    return {"minSize": least, "desiredSize": 2, "maxSize": most}


@pytest.mark.parametrize(("least", "most"), [(0, 5), (2, 5), (0, 2), (1, 8)])
def test_sizes_around_the_running_nodes_are_accepted(least: int, most: int) -> None:
    assert refused_sizes(group(scalingConfig=sizes(least, most))) is None


def test_a_minimum_above_the_running_nodes_is_refused_with_the_command() -> None:
    assert refused_sizes(group(scalingConfig=sizes(3, 8))) == (
        "EKS refuses min 3 while 2 nodes run. Run `aws eks update-nodegroup-config --region us-west-2 --cluster-name ci "
        "--nodegroup-name t4-spot-1 --scaling-config minSize=3,maxSize=8,desiredSize=3`, and then `pulumi up` again"
    )


def test_a_maximum_below_the_running_nodes_is_refused() -> None:
    assert refused_sizes(group(scalingConfig=sizes(0, 1))) == (
        "EKS refuses max 1 while 2 nodes run. Wait until the autoscaler has removed nodes, or end 1 of them with their "
        "jobs: `aws eks update-nodegroup-config --region us-west-2 --cluster-name ci --nodegroup-name t4-spot-1 "
        "--scaling-config minSize=0,maxSize=1,desiredSize=1`. Then run `pulumi up` again"
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"version": "1.36"}, "(Kubernetes version)"),
        ({"releaseVersion": "1.35.7-20260814"}, "(image release)"),
        ({"launchTemplate": {"id": "lt-1", "version": "2"}}, "(launch template: image, disk or node configuration)"),
        # The preview does not know the version of a template that is updated.
        ({"launchTemplate": {"id": "lt-1", "version": None}}, "(launch template: image, disk or node configuration)"),
        ({"version": "1.36", "releaseVersion": "1.36.1-20260814"}, "(Kubernetes version, image release)"),
    ],
)
def test_an_update_that_replaces_running_nodes_is_reported(changes: dict[str, Any], words: str) -> None:
    consequence = replaced_nodes(group(**changes))

    assert consequence is not None
    assert f"EKS replaces all 2 running nodes one after another {words}." in consequence


@pytest.mark.parametrize("changes", [{"labels": {"a": "b"}}, {"scalingConfig": sizes(1, 8)}, {"tags": {"a": "b"}}])
def test_an_update_that_keeps_the_nodes_is_not_reported(changes: dict[str, Any]) -> None:
    assert replaced_nodes(group(**changes)) is None


def test_an_empty_group_has_no_nodes_to_replace() -> None:
    assert replaced_nodes(group(running=0, version="1.36")) is None


@pytest.mark.parametrize(
    ("after", "refused"),
    [
        (["subnet-a", "subnet-b"], False),
        (["subnet-b", "subnet-a"], False),
        (["subnet-a"], True),
        (["subnet-a", "subnet-c"], True),
        (["subnet-a", "subnet-b", "subnet-c"], True),
        (["subnet-a", None], True),
        (None, True),
    ],
)
def test_a_control_plane_keeps_its_subnets(after: list[str | None] | None, refused: bool) -> None:
    before, wanted = ({"vpcConfig": {"subnetIds": ids}} for ids in (["subnet-a", "subnet-b"], after))
    update = Update(name="cluster", old_inputs=before, new_inputs=wanted, old_outputs=before)

    assert ("EKS cannot move a control plane" in (refused_subnets(update) or "")) is refused
