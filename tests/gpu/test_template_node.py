"""The autoscaler's imagined node is built as the autoscaler builds it, silences included."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpu.kubernetes.node_group import ApiTaint, real_node
from gpu.kubernetes.pods import Taint
from gpu.kubernetes.quantities import CPU, EPHEMERAL_STORAGE, GIB, GPU, MEMORY, PODS, Resources
from gpu.kubernetes.template_node import (
    LABEL_TAG,
    RESOURCE_TAG,
    TAINT_TAG,
    Autoscaler,
    labels_of,
    owned_tags,
    template_node,
)
from tests.gpu.pools import DEAF, POOL, TAGGED

pytestmark = pytest.mark.pure

GPU_TAINT = Taint(key="nvidia.com/gpu", value="true")


def test_it_has_all_that_ec2_sells_and_no_disk() -> None:
    assert template_node(POOL, Autoscaler()).node.allocatable == Resources.of(
        {CPU: 4000, MEMORY: 16 * GIB, GPU: 1, PODS: 110}
    )


def test_only_the_first_type_and_the_first_zone_count() -> None:
    node = template_node(replace(POOL, instance_types=("g4dn.12xlarge", "g4dn.xlarge")), Autoscaler()).node

    assert (node.allocatable[GPU], node.labels["node.kubernetes.io/instance-type"]) == (4, "g4dn.12xlarge")
    assert (node.labels["topology.kubernetes.io/zone"], node.labels["topology.kubernetes.io/region"]) == (
        "us-west-2a",
        "us-west-2",
    )


def test_labels_and_taints_of_the_node_group_are_known_through_the_api() -> None:
    node = template_node(POOL, Autoscaler()).node

    assert node.labels["gpu-ci/pool"] == "t4-spot"
    assert node.labels["eks.amazonaws.com/capacityType"] == "SPOT"
    assert node.taints == (GPU_TAINT,)


def test_without_the_api_only_tags_count() -> None:
    bare, tagged = template_node(POOL, DEAF).node, template_node(TAGGED, DEAF).node

    assert ("gpu-ci/pool" in bare.labels, bare.taints) == (False, ())
    assert (tagged.labels["gpu-ci/pool"], tagged.taints) == ("t4-spot", (GPU_TAINT,))
    assert "eks.amazonaws.com/capacityType" not in tagged.labels


def test_labels_of_the_api_win_over_tags() -> None:
    group = replace(POOL, asg_tags={f"{LABEL_TAG}gpu-ci/pool": "other"})

    assert template_node(group, Autoscaler()).node.labels["gpu-ci/pool"] == "t4-spot"
    assert template_node(group, DEAF).node.labels["gpu-ci/pool"] == "other"


def test_taints_of_the_api_come_after_those_of_tags() -> None:
    assert template_node(TAGGED, Autoscaler()).node.taints == (GPU_TAINT, GPU_TAINT)


@pytest.mark.parametrize("value", ["true:NO_SCHEDULE", "true", "true:noschedule", ":", ""])
def test_a_taint_tag_that_does_not_end_in_an_effect_of_kubernetes_is_passed_over(value: str) -> None:
    believed = template_node(replace(POOL, asg_tags={f"{TAINT_TAG}nvidia.com/gpu": value}), DEAF)

    assert believed.node.taints == ()
    assert f"nvidia.com/gpu={value}:" in believed.dropped[0]


def test_the_api_spelling_in_a_tag_is_answered_with_the_right_one() -> None:
    believed = template_node(replace(POOL, asg_tags={f"{TAINT_TAG}nvidia.com/gpu": "true:NO_SCHEDULE"}), DEAF)

    assert believed.dropped[0].endswith("write true:NoSchedule")


@pytest.mark.parametrize(
    ("value", "taint"),
    [
        (":NoSchedule", Taint(key="k", value="")),
        ("a:b:NoSchedule", Taint(key="k", value="a", effect="b:NoSchedule")),
        ("true:NoScheduleX", Taint(key="k", value="true", effect="NoScheduleX")),
    ],
)
def test_a_taint_tag_is_split_at_its_first_colon_whatever_follows(value: str, taint: Taint) -> None:
    assert template_node(replace(POOL, asg_tags={f"{TAINT_TAG}k": value}), DEAF).node.taints == (taint,)


def test_a_taint_without_a_value_is_not_seen_by_the_autoscaler() -> None:
    group = replace(POOL, taints=(ApiTaint(key="nvidia.com/gpu", effect="NO_SCHEDULE"),))

    assert template_node(group, Autoscaler()).node.taints == ()
    assert real_node(group, group.first, zone="us-west-2a").taints == (Taint(key="nvidia.com/gpu"),)


def test_one_effect_that_the_api_does_not_know_hides_the_whole_node_group() -> None:
    group = replace(POOL, taints=(ApiTaint(key="x", value="true", effect="NoSchedule"),))
    believed = template_node(group, Autoscaler())

    assert "gpu-ci/pool" not in believed.node.labels
    assert "NoSchedule of x is no effect of the API" in believed.dropped[0]


def test_tags_of_the_node_group_say_what_it_has_and_win_over_the_groups() -> None:
    group = replace(
        POOL,
        tags={f"{RESOURCE_TAG}nvidia.com/gpu": "4", f"{RESOURCE_TAG}ephemeral-storage": "180Gi"},
        asg_tags={f"{RESOURCE_TAG}nvidia.com/gpu": "2", f"{RESOURCE_TAG}cpu": "3500m"},
    )
    node = template_node(group, Autoscaler()).node

    assert (node.allocatable[GPU], node.allocatable[CPU]) == (4, 3500)
    assert node.allocatable[EPHEMERAL_STORAGE] == 180 * GIB
    assert template_node(group, DEAF).node.allocatable[GPU] == 2


def test_a_resource_tag_that_is_no_quantity_is_passed_over() -> None:
    believed = template_node(replace(POOL, tags={f"{RESOURCE_TAG}nvidia.com/gpu": "four"}), Autoscaler())

    assert believed.node.allocatable[GPU] == 1
    assert "four is no quantity" in believed.dropped[0]


def test_labels_and_taints_in_tags_of_the_node_group_itself_are_not_read() -> None:
    group = replace(POOL, labels={}, tags={f"{LABEL_TAG}gpu-ci/pool": "t4-spot"})

    assert "gpu-ci/pool" not in template_node(group, Autoscaler()).node.labels


def test_eks_own_tags_become_labels_by_which_the_node_group_is_found() -> None:
    assert labels_of(owned_tags(POOL)) == {"cluster-name": "ci", "nodegroup-name": "t4-spot"}


def test_a_label_tag_without_a_key_is_no_label() -> None:
    assert labels_of({LABEL_TAG: "x", "eks:": "y", "Name": "z"}) == {}


@pytest.mark.parametrize(
    "key",
    [
        "startup-taint.cluster-autoscaler.kubernetes.io/gpu", "ignore-taint.cluster-autoscaler.kubernetes.io/gpu",
        "status-taint.cluster-autoscaler.kubernetes.io/gpu", "node.kubernetes.io/not-ready", "slow-start",
    ],
)  # fmt: skip
def test_taints_that_go_by_themselves_are_left_out(key: str) -> None:
    group = replace(POOL, taints=(*POOL.taints, ApiTaint(key=key, value="true", effect="NO_SCHEDULE")))

    assert template_node(group, Autoscaler(startup_taints=("slow-start",))).node.taints == (GPU_TAINT,)


def test_a_fraction_of_a_gpu_is_none() -> None:
    assert template_node(replace(POOL, instance_types=("g6f.xlarge",)), Autoscaler()).node.allocatable[GPU] == 0


@pytest.mark.parametrize(("version", "labelled"), [("1.34", False), ("1.35", True), ("1.36", True), ("", False)])
def test_a_real_gpu_node_labels_itself_from_kubernetes_135_on(version: str, labelled: bool) -> None:
    group = replace(POOL, version=version, labels={})

    assert ("nvidia.com/gpu.present" in real_node(group, group.first, zone="us-west-2a").labels) is labelled
