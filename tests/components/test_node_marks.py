"""A node, the pods that want it and the autoscaler that imagines it say the same of it."""

from __future__ import annotations

import base64
import email
import json
from email.message import Message
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.aws.nodes.bootstrap import user_data
from components.aws.nodes.gpu_node import (
    NODE_TEMPLATE,
    POOL_LABEL,
    GpuNode,
    api_taints,
    autoscaler_tags,
    every_toleration,
    node_labels,
    node_taints,
    tolerations,
)
from components.aws.nodes.taints import API_EFFECTS
from gpu_ci.knowledge.kubernetes.pods import Pod, Taint, pod_from_template
from gpu_ci.knowledge.kubernetes.scheduling import Node, taint_refusals

pytestmark = pytest.mark.pure

KEYS = st.from_regex(r"[a-z]{1,8}(\.example/[a-z]{1,8})?", fullmatch=True)
WORDS = st.from_regex(r"[A-Za-z0-9]{1,8}", fullmatch=True)
TAINTS = st.dictionaries(KEYS, st.builds("{}:{}".format, WORDS, st.sampled_from(sorted(API_EFFECTS))), max_size=3)
NODES = st.builds(
    GpuNode,
    pool=st.from_regex(r"[a-z][a-z0-9-]{0,10}", fullmatch=True),
    accelerator=st.sampled_from(["nvidia-tesla-t4", "nvidia-l4"]),
    gpus=st.integers(1, 8),
    ephemeral_mib=st.integers(30_000, 1_000_000),
    labels=st.dictionaries(KEYS, WORDS, max_size=3),
    taints=TAINTS,
    sharing_replicas=st.integers(1, 8),
    device_plugin_config=st.none() | st.just("time-slicing-2"),
    scale_down_after_minutes=st.none() | st.integers(1, 60),
)
T4 = GpuNode(pool="t4-spot", accelerator="nvidia-tesla-t4", gpus=1, ephemeral_mib=183_000)


def pod(with_tolerations: list[dict[str, str]]) -> Pod:
    return pod_from_template({"spec": {"tolerations": with_tolerations}})


def real(taints: dict[str, str]) -> Node:
    """A node with these taints and the GPU's own."""
    stated = {"nvidia.com/gpu": "true:NoSchedule", **taints}
    split = {key: taint.split(":") for key, taint in stated.items()}
    return Node(taints=tuple(Taint(key=key, value=value, effect=effect) for key, (value, effect) in split.items()))


def test_node_labels_equal_the_deployed_labels() -> None:
    """The device plugin looks for one of them, the autoscaler for another, and runners for a third."""
    assert node_labels(T4) == {
        "gpu-ci/pool": "t4-spot",
        "k8s.amazonaws.com/accelerator": "nvidia-tesla-t4",
        "nvidia.com/gpu": "true",
        "nvidia.com/gpu.present": "true",
        "role": "gpu",
    }


@given(NODES)
def test_node_labels_include_the_labels_of_the_stack_file(node: GpuNode) -> None:
    found = node_labels(node)

    assert dict(node.labels).items() <= found.items()
    assert found[POOL_LABEL] == node.pool
    assert found.get("nvidia.com/device-plugin.config") == node.device_plugin_config
    assert list(found) == sorted(found)


@given(NODES)
def test_autoscaler_tags_state_every_label_and_taint_of_the_node(node: GpuNode) -> None:
    tags = autoscaler_tags(node)
    labels = {key.removeprefix(f"{NODE_TEMPLATE}/label/"): tags[key] for key in tags if "/label/" in key}
    taints = {key.removeprefix(f"{NODE_TEMPLATE}/taint/"): tags[key] for key in tags if "/taint/" in key}

    assert labels == node_labels(node)
    assert taints == node_taints(node)


@given(NODES)
def test_the_api_and_the_tags_have_their_own_spelling_of_a_taint_effect(node: GpuNode) -> None:
    """`NO_SCHEDULE` in a tag is dropped by the autoscaler without a word, and `NoSchedule` refused by the API."""
    tags = autoscaler_tags(node)
    spelt = {t["key"]: (t["value"], t["effect"]) for t in api_taints(node)}

    assert set(spelt) == set(node_taints(node))
    for key, (value, effect) in spelt.items():
        content, _, word = tags[f"{NODE_TEMPLATE}/taint/{key}"].rpartition(":")
        assert (value, effect) == (content, API_EFFECTS[word])
        assert value
        assert word in {"NoSchedule", "NoExecute", "PreferNoSchedule"}


@given(NODES)
def test_autoscaler_tags_state_the_resources_that_jobs_can_request(node: GpuNode) -> None:
    tags = autoscaler_tags(node)

    assert tags[f"{NODE_TEMPLATE}/resources/nvidia.com/gpu"] == str(node.gpus * node.sharing_replicas)
    assert tags[f"{NODE_TEMPLATE}/resources/ephemeral-storage"] == f"{node.ephemeral_mib}Mi"


def test_the_scale_down_delay_of_a_pool_has_the_format_of_the_autoscaler() -> None:
    own = GpuNode(pool="a", accelerator="nvidia-l4", gpus=1, ephemeral_mib=90_000, scale_down_after_minutes=3)
    key = f"{NODE_TEMPLATE}/autoscaling-options/scaledownunneededtime"

    assert autoscaler_tags(own)[key] == "3m0s"
    assert key not in autoscaler_tags(T4)


@given(NODES)
def test_no_tag_belongs_to_eks(node: GpuNode) -> None:
    """Two owners of a tag would take it from each other at every update."""
    assert all(key.startswith(f"{NODE_TEMPLATE}/") for key in autoscaler_tags(node))


@given(TAINTS)
def test_the_runner_of_a_pool_tolerates_every_taint_of_the_pool(taints: dict[str, str]) -> None:
    assert taint_refusals(pod(tolerations(taints)), real(taints)) == ()


@given(TAINTS.filter(lambda taints: any(not taint.endswith("PreferNoSchedule") for taint in taints.values())))
def test_a_runner_of_another_pool_does_not_tolerate_the_taints(taints: dict[str, str]) -> None:
    assert taint_refusals(pod(tolerations({})), real(taints))


@given(st.lists(TAINTS, max_size=3))
def test_the_tolerations_of_a_daemon_set_cover_every_pool_without_duplicates(pools: list[dict[str, str]]) -> None:
    found = every_toleration(pools)

    assert [taint_refusals(pod(found), real(taints)) for taints in [{}, *pools]] == [()] * (len(pools) + 1)
    assert len({json.dumps(each, sort_keys=True) for each in found}) == len(found)


def test_a_node_without_fast_image_pull_has_no_user_data() -> None:
    assert user_data(fast_image_pull=False) is None


def test_nodeadm_can_read_the_user_data() -> None:
    message = email.message_from_bytes(base64.b64decode(user_data(fast_image_pull=True) or "", validate=True))
    (part,) = cast("list[Message]", message.get_payload())
    config = json.loads(str(part.get_payload()))

    assert message.get_content_type() == "multipart/mixed"
    assert message.defects == []
    assert part.get_content_type() == "application/node.eks.aws"
    assert (config["apiVersion"], config["kind"]) == ("node.eks.aws/v1alpha1", "NodeConfig")
    assert config["spec"] == {
        "featureGates": {"FastImagePull": True},
        "instance": {"localStorage": {"strategy": "RAID0"}},
    }


def test_user_data_has_no_carriage_return_and_is_within_the_limit() -> None:
    """cloud-init reads nothing of a part whose boundary ends in a carriage return; EC2 takes 16 KiB."""
    raw = base64.b64decode(user_data(fast_image_pull=True) or "")

    assert b"\r" not in raw
    assert raw.endswith(b"--\n")
    assert len(raw) < 16 * 1024
