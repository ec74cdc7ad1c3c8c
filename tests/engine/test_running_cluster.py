"""The replacement of a running cluster: refused, with the property that forces it and the way that works."""

from __future__ import annotations

import json

import pytest

from ops.engine.events import Step
from ops.engine.running_cluster import CLUSTER, PROVIDER, VPC, refusal

pytestmark = pytest.mark.pure

SUBNET = "aws:ec2/subnet:Subnet"
RELEASE = "kubernetes:helm.sh/v3:Release"


def step(op: str, type_: str, path: str = "", kind: str = "update-replace") -> Step:
    """A step of one resource, with one changed property."""
    return Step(
        op=op,
        urn=f"urn:pulumi:staging::gpu-ci::gpu-ci:aws:Cluster${type_}::one",
        type=type_,
        changed={path: kind} if path else {},
        old={path: "old"},
        new={path: "new"},
    )


CHART = step("same", RELEASE)
REPLACED = step("replace", CLUSTER, "roleArn")
MOVED = step("update", CLUSTER, "vpcConfig.subnetIds[0]", "update")
NETWORK = step("replace", VPC, "cidrBlock")
CONNECTION = step("replace", PROVIDER, "clusterIdentifier")


@pytest.mark.parametrize(
    ("steps", "forced"),
    [
        pytest.param([REPLACED, CHART], "Cluster one: roleArn: old -> new", id="cluster"),
        pytest.param([CONNECTION, CHART], "kubernetes one: clusterIdentifier: old -> new", id="provider"),
        pytest.param([MOVED, NETWORK], "Vpc one: cidrBlock: old -> new", id="vpc"),
        pytest.param([MOVED, step("replace", SUBNET, "cidrBlock")], "Subnet one: cidrBlock: old -> new", id="subnet"),
    ],
)
def test_a_replacement_of_a_running_cluster_is_refused(steps: list[Step], forced: str) -> None:
    found = refusal(steps)

    assert found is not None
    assert [str(force) for force in found.forces] == [forced]
    assert found.lines[1] == f"Forced by {forced}"
    assert json.loads(json.dumps(found.to_data()))["forces"][0]["old"] == "old"


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([], id="nothing"),
        pytest.param([REPLACED], id="an-empty-cluster"),
        pytest.param([REPLACED, step("create", RELEASE)], id="objects-that-do-not-exist-yet"),
        pytest.param([step("delete", CLUSTER), step("delete", RELEASE)], id="a-removed-cluster"),
        pytest.param([step("update", CLUSTER, "version", "update"), CHART], id="an-upgrade"),
        pytest.param([NETWORK, CHART], id="a-network-without-a-cluster"),
        pytest.param([step("create", CLUSTER), step("create", RELEASE), NETWORK], id="a-new-cluster"),
    ],
)
def test_other_changes_are_not_refused(steps: list[Step]) -> None:
    assert refusal(steps) is None
