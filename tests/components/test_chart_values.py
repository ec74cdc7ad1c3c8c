"""Tests of the values of every chart."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.kubernetes.arc.arc_controller_values import controller_values
from components.kubernetes.arc.scale_set_values import (
    START_UP_MINUTES,
    ScaleSetValues,
    job_pod,
    runner_pod,
    scale_set_values,
)
from components.kubernetes.autoscaler_values import AutoscalerValues, autoscaler_values
from components.kubernetes.gpus.device_plugin_values import DevicePluginValues, device_plugin_values
from components.kubernetes.gpus.gpu_metrics_values import GpuMetricsValues, gpu_metrics_values
from components.kubernetes.namespaces import RUNNERS
from gpu_ci.knowledge.kubernetes.daemonsets import DaemonSet
from gpu_ci.knowledge.kubernetes.pods import pod_from_template
from gpu_ci.knowledge.kubernetes.quantities import MIB, Resources
from gpu_ci.knowledge.kubernetes.scheduling import Node, lands

pytestmark = pytest.mark.pure

GPU_TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
RUNNER = ScaleSetValues(
    runner="gpu-t4",
    github_url="https://github.com/example-org",
    runner_group="default",
    min=0,
    max=5,
    labels=(),
    container_mode="none",
    gpus=1,
    cpu=3,
    memory="12Gi",
    disk=None,
    timeout_minutes=60,
    pools=("t4-spot",),
    tolerations=(GPU_TOLERATION,),
)
SEPARATE = replace(RUNNER, container_mode="kubernetes-novolume")
AUTOSCALER = AutoscalerValues(
    region="us-west-2",
    image_tag="v1.35.2",
    expander=("priority", "least-waste"),
    scale_down_after_minutes=5,
    provision_timeout_minutes=10,
    capacities={"t4-spot": "spot", "t4-on-demand": "on-demand"},
)


def values(args: ScaleSetValues) -> dict[str, Any]:
    return scale_set_values(
        args, image="registry.example/runner@sha256:0", secret_name="github-app", controller_namespace="arc-systems",
        controller_account="arc-gha-rs-controller",
    )  # fmt: skip


def gpu_template(args: ScaleSetValues) -> dict[str, Any]:
    return job_pod(args) if args.container_mode != "none" else runner_pod(args, "image")


RUNNERS_OF_ANY_KIND = st.builds(
    replace,
    st.sampled_from([RUNNER, SEPARATE]),
    gpus=st.integers(1, 8),
    cpu=st.integers(1, 96),
    memory=st.integers(1, 300).map("{}Gi".format),
    disk=st.none() | st.integers(1, 300).map("{}Gi".format),
    pools=st.lists(st.from_regex(r"[a-z][a-z0-9]{0,6}", fullmatch=True), min_size=1, max_size=3, unique=True),
    min=st.integers(0, 3),
)


@given(RUNNERS_OF_ANY_KIND)
def test_a_job_requests_the_resources_of_its_runner(args: ScaleSetValues) -> None:
    asked = pod_from_template(gpu_template(args)).requests
    promised = {"cpu": str(args.cpu), "memory": args.memory, "nvidia.com/gpu": str(args.gpus)}

    assert asked == Resources.parse({**promised, **({"ephemeral-storage": args.disk} if args.disk else {})})


@given(RUNNERS_OF_ANY_KIND)
def test_the_limits_of_a_job_equal_its_requests(args: ScaleSetValues) -> None:
    """Requests and limits alike, it is the last to be evicted, and gets whole cores."""
    (container,) = gpu_template(args)["spec"]["containers"]

    assert container["resources"]["limits"] == container["resources"]["requests"]


@given(RUNNERS_OF_ANY_KIND, st.from_regex(r"[a-z][a-z0-9]{0,6}", fullmatch=True))
def test_a_job_runs_only_on_nodes_of_its_pools(args: ScaleSetValues, pool: str) -> None:
    job = DaemonSet.of("job", gpu_template(args))

    assert (lands(job, Node(labels={"gpu-ci/pool": pool})) == ()) == (pool in args.pools)


@given(RUNNERS_OF_ANY_KIND)
def test_a_job_has_a_deadline_and_terminates_within_the_spot_notice(args: ScaleSetValues) -> None:
    spec = gpu_template(args)["spec"]
    kept_idle = args.container_mode == "none" and args.min > 0

    assert spec.get("activeDeadlineSeconds") == (None if kept_idle else (args.timeout_minutes + START_UP_MINUTES) * 60)
    assert spec["terminationGracePeriodSeconds"] < 120


@given(RUNNERS_OF_ANY_KIND)
def test_an_on_demand_runner_has_a_deadline_and_an_idle_runner_has_none(args: ScaleSetValues) -> None:
    deadline = runner_pod(args, "image")["spec"].get("activeDeadlineSeconds")

    assert (deadline is None) == (args.min > 0)


def test_a_runner_with_a_separate_job_pod_has_a_later_deadline_than_the_job() -> None:
    runner, job = (pod["spec"]["activeDeadlineSeconds"] for pod in (runner_pod(SEPARATE, "image"), job_pod(SEPARATE)))

    assert runner - job == START_UP_MINUTES * 60


@pytest.mark.parametrize(("shared", "least"), [(False, None), (True, "1")])
def test_a_runner_on_shared_gpus_accepts_fewer_visible_gpus(shared: bool, least: str | None) -> None:
    (container,) = runner_pod(replace(RUNNER, gpus=2, shared=shared), "image")["spec"]["containers"]
    rendered = {each["name"]: each["value"] for each in container["env"]}

    assert (rendered["GPU_CI_GPUS"], rendered.get("GPU_CI_GPUS_AT_LEAST")) == ("2", least)


@pytest.mark.parametrize("args", [RUNNER, SEPARATE])
def test_the_shared_memory_of_a_job_is_part_of_its_memory_request(args: ScaleSetValues) -> None:
    spec = gpu_template(args)["spec"]
    (shared,) = [volume["emptyDir"] for volume in spec["volumes"] if volume["name"] == "shared-memory"]
    mounted = {mount["mountPath"] for mount in spec["containers"][0]["volumeMounts"]}

    assert "/dev/shm" in mounted  # noqa: S108
    assert shared["medium"] == "Memory"
    assert Resources.parse({"memory": shared["sizeLimit"]})["memory"] == 1024 * MIB


def test_a_runner_with_a_separate_job_pod_runs_on_a_system_node() -> None:
    spec = runner_pod(SEPARATE, "image")["spec"]

    assert spec["nodeSelector"] == {"role": "system"}
    assert "tolerations" not in spec
    assert "nvidia.com/gpu" not in json.dumps(spec)


@given(RUNNERS_OF_ANY_KIND)
def test_a_pod_has_the_group_of_the_user_of_its_image(args: ScaleSetValues) -> None:
    """The hook replaces its own security context by that of the template."""
    pods = [runner_pod(args, "image"), *([job_pod(args)] if args.container_mode != "none" else [])]
    contexts = [pod["spec"]["securityContext"] for pod in pods]

    assert contexts == [{"fsGroup": 1001, "seccompProfile": {"type": "RuntimeDefault"}}] * len(pods)


def test_labels_are_set_only_if_the_runner_has_labels() -> None:
    """Without the key the chart gives the scale set its name alone."""
    assert "scaleSetLabels" not in values(RUNNER)
    assert values(replace(RUNNER, labels=("gpu", "t4")))["scaleSetLabels"] == ["gpu", "t4"]


def test_a_container_mode_is_set_only_if_the_runner_has_a_container_mode() -> None:
    assert "containerMode" not in values(RUNNER)
    assert values(SEPARATE)["containerMode"] == {"type": "kubernetes-novolume"}


def test_a_scale_set_joins_the_stated_runner_group() -> None:
    assert values(replace(RUNNER, runner_group="gpu"))["runnerGroup"] == "gpu"


def test_the_controller_watches_one_namespace_and_updates_immediately() -> None:
    flags = controller_values("info")["flags"]

    assert flags == {
        "logLevel": "info",
        "logFormat": "json",
        "watchSingleNamespace": RUNNERS,
        "updateStrategy": "immediate",
    }


def test_the_autoscaler_removes_nodes_with_local_storage_and_system_pods() -> None:
    """By default either prevents the removal of a GPU node."""
    flags = autoscaler_values(AUTOSCALER, "gpu-ci-staging")["extraArgs"]

    assert flags == {
        "expander": "priority,least-waste",
        "scale-down-unneeded-time": "5m",
        "scale-down-delay-after-add": "5m",
        "max-node-provision-time": "10m",
        "skip-nodes-with-local-storage": False,
        "skip-nodes-with-system-pods": False,
    }


def ranks(capacities: dict[str, Any], pool: str) -> list[int]:
    """The priorities whose patterns meet the group of a pool, as EKS and Pulumi name it."""
    group = f"eks-{pool}-20261121093401123400000001-8ec1a5b2-77aa-0b51-3c9d-1f2e3d4c5b6a"
    written = autoscaler_values(replace(AUTOSCALER, capacities=capacities), "c")["expanderPriorities"]
    return [int(rank) for rank, patterns in written.items() for pattern in patterns if re.search(pattern, group)]


@given(
    st.dictionaries(
        st.from_regex(r"t4?(-[0-9a-f]{1,4}){0,2}(-spot)?", fullmatch=True),
        st.sampled_from(["spot", "on-demand"]),
        min_size=1,
    )
)
def test_a_pool_does_not_match_another_pool_with_the_same_prefix(capacities: dict[str, Any]) -> None:
    expected = {"spot": 50, "on-demand": 20}

    assert {pool: sorted(ranks(capacities, pool)) for pool in capacities} == {
        pool: [1, expected[capacity]] for pool, capacity in capacities.items()
    }


def test_a_node_group_without_a_pool_has_the_lowest_priority() -> None:
    assert ranks({"t4-spot": "spot"}, "system") == [1]


def test_without_the_priority_expander_no_priorities_are_set() -> None:
    """The chart would create a ConfigMap without a reader."""
    assert "expanderPriorities" not in autoscaler_values(replace(AUTOSCALER, expander=("least-waste",)), "c")


def plugin(**shares: int) -> dict[str, Any]:
    named = {name.replace("_", "-"): each for name, each in shares.items()}
    return device_plugin_values(DevicePluginValues(fail_on_init_error=True, tolerations=[GPU_TOLERATION], shares=named))


def test_a_device_plugin_without_sharing_has_no_configuration() -> None:
    """With a configuration the chart gives it more rights."""
    assert plugin().keys() == {"failOnInitError", "affinity", "tolerations"}


def test_a_node_without_a_sharing_label_shares_no_gpu() -> None:
    shared = plugin(time_slicing_2=2)
    configurations = {name: json.loads(text) for name, text in shared["config"]["map"].items()}

    assert shared["config"]["default"] == "default"
    assert shared["migStrategy"] == "none"
    assert configurations == {
        "default": {"version": "v1"},
        "time-slicing-2": {
            "version": "v1",
            "sharing": {"timeSlicing": {"resources": [{"name": "nvidia.com/gpu", "replicas": 2}]}},
        },
    }


def test_the_memory_limit_of_go_is_below_the_memory_limit_of_the_exporter() -> None:
    """The Go runtime has no memory limit by default."""
    rendered = gpu_metrics_values(GpuMetricsValues(interval_seconds=30, service_monitor=False, tolerations=[]))
    environment = {variable["name"]: variable["value"] for variable in rendered["extraEnv"]}
    limit = Resources.parse(rendered["resources"]["limits"])["memory"]

    assert environment["DCGM_EXPORTER_INTERVAL"] == "30000"
    assert int(environment["GOMEMLIMIT"].removesuffix("MiB")) * MIB < limit
