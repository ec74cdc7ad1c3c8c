"""The assumed node is built as the autoscaler builds it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.gpu_names import GPU
from gpu_ci.knowledge.kubernetes.node_group import real_node
from gpu_ci.knowledge.kubernetes.pods import Taint
from gpu_ci.knowledge.kubernetes.quantities import CPU, EPHEMERAL_STORAGE, GIB, MEMORY, PODS, Resources
from gpu_ci.knowledge.kubernetes.template_node import LABEL_TAG, RESOURCE_TAG, template_node
from tests.knowledge.pools import POOL, TAGGED

pytestmark = pytest.mark.pure

GPU_TAINT = Taint(key="nvidia.com/gpu", value="true")
UNTAINTED = replace(POOL, taints=())


def test_the_template_node_has_the_advertised_resources_and_no_disk() -> None:
    assert template_node(POOL).node.allocatable == Resources.of({CPU: 4000, MEMORY: 16 * GIB, GPU: 1, PODS: 110})


def test_a_fraction_of_a_gpu_counts_as_none() -> None:
    assert template_node(replace(POOL, instance_types=("g6f.xlarge",))).node.allocatable[GPU] == 0


def test_only_the_first_type_and_the_first_zone_count() -> None:
    node = template_node(replace(POOL, instance_types=("g4dn.12xlarge", "g4dn.xlarge"))).node

    assert (node.allocatable[GPU], node.labels["node.kubernetes.io/instance-type"]) == (4, "g4dn.12xlarge")
    assert (node.labels["topology.kubernetes.io/zone"], node.labels["topology.kubernetes.io/region"]) == (
        "us-west-2a",
        "us-west-2",
    )


def test_labels_of_the_node_group_override_tags() -> None:
    node = template_node(replace(POOL, asg_tags={f"{LABEL_TAG}gpu-ci/pool": "x", f"{LABEL_TAG}role": "gpu"})).node

    assert (node.labels["gpu-ci/pool"], node.labels["role"]) == ("t4-spot", "gpu")
    assert node.labels["eks.amazonaws.com/capacityType"] == "SPOT"


def test_taints_of_the_node_group_are_added_to_those_of_tags() -> None:
    assert template_node(TAGGED).node.taints == (GPU_TAINT, GPU_TAINT)


def test_resource_tags_of_the_node_group_override_those_of_the_auto_scaling_group() -> None:
    group = replace(
        POOL,
        tags={f"{RESOURCE_TAG}nvidia.com/gpu": "4", f"{RESOURCE_TAG}ephemeral-storage": "180Gi"},
        asg_tags={f"{RESOURCE_TAG}nvidia.com/gpu": "2", f"{RESOURCE_TAG}cpu": "3500m"},
    )
    node = template_node(group).node

    assert (node.allocatable[GPU], node.allocatable[CPU]) == (4, 3500)
    assert node.allocatable[EPHEMERAL_STORAGE] == 180 * GIB


def test_label_tags_of_the_node_group_itself_are_not_read() -> None:
    group = replace(POOL, labels={}, tags={f"{LABEL_TAG}gpu-ci/pool": "t4-spot"})

    assert "gpu-ci/pool" not in template_node(group).node.labels


@pytest.mark.parametrize(("version", "labelled"), [("1.34", False), ("1.35", True), ("1.36", True), ("", False)])
def test_a_gpu_node_sets_its_own_labels_from_kubernetes_135(version: str, labelled: bool) -> None:
    group = replace(POOL, version=version, labels={})

    assert ("nvidia.com/gpu.present" in real_node(group, group.first, zone="us-west-2a").labels) is labelled
