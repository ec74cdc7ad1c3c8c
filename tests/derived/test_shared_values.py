"""Values that components and checks share, computed from the settings."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_ci.back_ends.arc.section import ArcSection
from gpu_ci.back_ends.arc.values import scale_set
from gpu_ci.derived import kubernetes
from tests.stack_file import stacks
from tests.stack_file.stacks import SHARED, STAGING
from tests.tables import OUT

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("types", "accelerator"),
    [
        (["g4dn.xlarge", "g4dn.2xlarge"], "nvidia-tesla-t4"),
        (["g6.xlarge"], "nvidia-l4"),
        (["g4dn.xlarge", "g6.xlarge"], "nvidia-gpu"),
    ],
)
def test_the_accelerator_label_is_neutral_on_a_pool_of_several_models(types: list[str], accelerator: str) -> None:
    free = {"runners": {}, "gpu-pools/t4-spot/instance-types": types}
    settings = stacks.settings(STAGING, free)

    assert kubernetes.gpu_node("t4-spot", settings.gpu_pools["t4-spot"], settings.machines).accelerator == accelerator


@pytest.mark.parametrize(("first", "gpus"), [("g4dn.xlarge", 1), ("g4dn.12xlarge", 4), ("g6f.xlarge", 1)])
def test_the_gpu_count_is_that_of_the_first_type(first: str, gpus: int) -> None:
    """The autoscaler sizes nodes by the first type. EC2 counts a fraction of a GPU as 0, but a job requests 1."""
    settings = stacks.settings(STAGING, {"runners": {}, "gpu-pools/t4-spot/instance-types": [first, "g4dn.2xlarge"]})

    assert kubernetes.gpu_node("t4-spot", settings.gpu_pools["t4-spot"], settings.machines).gpus == gpus


@pytest.mark.parametrize(("pool", "replicas", "named"), [("t4-shared", 2, "time-slicing-2"), ("l4-spot", 1, None)])
def test_a_shared_gpu_sets_replicas_and_the_plugin_configuration(pool: str, replicas: int, named: str | None) -> None:
    settings = stacks.settings(SHARED)
    node = kubernetes.gpu_node(pool, settings.gpu_pools[pool], settings.machines)

    assert (node.sharing_replicas, node.device_plugin_config) == (replicas, named)


@pytest.mark.parametrize(
    ("changes", "add_ons"),
    [
        ({}, {"aws-ebs-csi-driver", "metrics-server"}),
        ({"storage": OUT}, {"metrics-server"}),
        ({"monitoring/metrics-server": False}, {"aws-ebs-csi-driver"}),
        ({"storage": OUT, "monitoring": OUT}, set()),
    ],
)
def test_a_section_enables_its_add_on(changes: dict[str, Any], add_ons: set[str]) -> None:
    found = {add_on.name for add_on in kubernetes.add_ons(stacks.settings(STAGING, changes))}

    assert found == {"vpc-cni", "kube-proxy", "coredns", "eks-pod-identity-agent", *add_ons}


def test_equal_sharing_of_two_pools_is_one_configuration() -> None:
    both = {"gpu-pools/l4-spot/sharing": {"mode": "time-slicing", "replicas": 2}}

    assert set(kubernetes.device_plugin(stacks.settings(SHARED)).shares) == {"time-slicing-2"}
    assert set(kubernetes.device_plugin(stacks.settings(SHARED, both)).shares) == {"time-slicing-2"}


def test_daemonsets_tolerate_the_taints_of_every_pool() -> None:
    keys = [toleration["key"] for toleration in kubernetes.gpu_tolerations(stacks.settings(SHARED))]

    assert keys == ["nvidia.com/gpu", "team"]


def test_a_scale_set_gets_the_stated_values() -> None:
    changes = {
        "runners/gpu-t4/arc/labels": ["gpu"],
        "runners/gpu-t4/needs/disk": "40Gi",
        "runners/gpu-t4/arc/min": 1,
    }
    settings = stacks.settings(STAGING, changes)
    runner = settings.runners["gpu-t4"]
    found = scale_set("gpu-t4", runner, runner.section(ArcSection), settings)

    assert (found.runner, found.min, found.max, list(found.labels)) == ("gpu-t4", 1, 5, ["gpu"])
    assert (found.gpus, found.cpu, found.memory, found.disk, found.timeout_minutes) == (1, 3, "12Gi", "40Gi", 60)
    assert list(found.pools) == ["t4-spot", "t4-on-demand"]
    assert found.github_url == "https://github.com/example-org"
