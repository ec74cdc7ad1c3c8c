"""A runner without a GPU gets a node of a CPU pool, and nothing of its pod asks for a GPU."""

from __future__ import annotations

import functools
from typing import Any, Final

import pytest

from components.kubernetes.arc.scale_set_values import ScaleSetValues, job_pod, runner_pod
from gpu_ci.back_ends.arc.section import ArcSection
from gpu_ci.back_ends.arc.values import scale_set
from gpu_ci.back_ends.registry import stack_of
from gpu_ci.back_ends.stack import Stack
from gpu_ci.checks import verdicts
from gpu_ci.derived import kubernetes
from gpu_ci.knowledge.kubernetes.node_group import real_node
from gpu_ci.knowledge.kubernetes.pods import pod_from_template
from gpu_ci.knowledge.kubernetes.scheduling import refusals
from gpu_ci.knowledge.verdict import Level
from gpu_ci.stack_file.identity import Identity
from tests.plan.stacks import planned
from tests.stack_file import stacks
from tests.tables import OUT

pytestmark = pytest.mark.plan

FILE: Final = "examples/eks-cpu.yaml"


@functools.cache
def stack(*, mode: str = "none") -> Stack:
    settings = stacks.settings(FILE, {"runners/cpu-build/arc/container-mode": mode})
    return stack_of(settings, Identity(project="gpu-ci", stack="test", extra={}))


def values(name: str) -> ScaleSetValues:
    settings = stack().settings
    runner = settings.runners[name]
    return scale_set(name, runner, runner.section(ArcSection), settings)


def amounts(template: dict[str, Any]) -> set[str]:
    return {name for one in template["spec"]["containers"] for kind in one["resources"].values() for name in kind}


@pytest.mark.parametrize(
    "template", [lambda: runner_pod(values("cpu-build"), "image"), lambda: job_pod(values("cpu-build"))]
)
def test_a_pod_of_a_job_without_a_gpu_requests_no_gpu(template: Any) -> None:
    pod = template()

    assert amounts(pod) == {"cpu", "memory", "ephemeral-storage"}
    assert [one["key"] for one in pod["spec"]["tolerations"]] == ["gpu-ci/cpu"]


def test_the_hooks_of_a_job_without_a_gpu_skip_the_gpu() -> None:
    (container,) = runner_pod(values("cpu-build"), "image")["spec"]["containers"]

    assert {"name": "GPU_CI_GPUS", "value": "0"} in container["env"]


@pytest.mark.parametrize("mode", ["none", "kubernetes-novolume"])
def test_each_job_runs_on_the_nodes_of_its_own_kind_only(mode: str) -> None:
    found = {
        (path.removeprefix("runners."), group.path)
        for path, runner in kubernetes.shared_nodes(stack(mode=mode)).items()
        for group in kubernetes.node_groups(stack(mode=mode))
        if not refusals(runner.pod, real_node(group, group.first, zone=group.zones[0]))
    }

    assert found == {
        ("gpu-t4", "gpu-pools.t4"),
        ("cpu-build", "cpu-pools.build-spot"),
        ("cpu-build", "cpu-pools.build"),
    }


def test_other_pods_do_not_run_on_nodes_of_a_cpu_pool() -> None:
    group = next(one for one in kubernetes.node_groups(stack()) if one.path == "cpu-pools.build")

    reasons = refusals(pod_from_template({"spec": {}}), real_node(group, group.first, zone=group.zones[0]))

    assert [(one.kind, one.subject) for one in reasons] == [("taint", "gpu-ci/cpu")]


def test_nvidia_s_daemonsets_do_not_run_on_nodes_of_a_cpu_pool() -> None:
    from gpu_ci.checks.nodes.fit import place  # noqa: PLC0415

    group = next(one for one in kubernetes.node_groups(stack()) if one.path == "cpu-pools.build")
    names = [one.name for one in place(group, group.first, kubernetes.daemonsets(stack().settings)).daemonsets]

    assert "nvidia-device-plugin" not in names
    assert "aws-node" in names


def test_every_check_passes_for_a_runner_without_a_gpu() -> None:
    found = [one for one in verdicts(stack()) if one.subject in {"runners.cpu-build", "cpu-pools.build-spot"}]

    assert {one.level for one in found} == {Level.OK}
    assert {one.check for one in found} == {"counts", "fit", "scale-from-zero", "spot-plan", "queue-time", "quota"}


def test_the_wait_of_a_job_without_a_gpu_has_no_step_of_a_gpu() -> None:
    steps = [step.name for step in stack().offers["cpu-build"].steps]

    assert "a node without a GPU starts and joins" in steps
    assert not [step for step in steps if "GPU" in step and "without" not in step]


def test_a_cpu_pool_is_a_node_group_with_the_tags_of_the_autoscaler() -> None:
    plan = planned(FILE)
    group = plan.one("aws:eks/nodeGroup:NodeGroup", "cpu-pool-build-spot").inputs
    tags = group["tags"]

    assert (group["amiType"], group["capacityType"], group["labels"]) == (
        "AL2023_x86_64_STANDARD",
        "SPOT",
        {"role": "cpu", "gpu-ci/pool": "build-spot"},
    )
    assert group["taints"] == [{"key": "gpu-ci/cpu", "value": "true", "effect": "NO_SCHEDULE"}]
    assert tags["k8s.io/cluster-autoscaler/node-template/taint/gpu-ci/cpu"] == "true:NoSchedule"
    assert not [key for key in tags if "nvidia" in key or "accelerator" in key]


def test_a_stack_with_only_cpu_pools_needs_no_device_plugin() -> None:
    raw = stacks.sections(
        FILE,
        {
            "gpu-pools": OUT,
            "device-plugin": OUT,
            "runners/gpu-t4": OUT,
            "images/runner-cuda": OUT,
        },
    )

    assert stacks.faults(raw) == []
