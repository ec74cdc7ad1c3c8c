"""The smoke tests that a stack declares: a Job in each pool, which the scheduler places and Pulumi waits for."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from pulumi_kubernetes.batch import v1 as batch

from components.kubernetes.gpus.smoke_job import NAMESPACE, PROGRAM, pod_template
from gpu_ci.checks.images import compatibility
from gpu_ci.checks.nodes import fit
from gpu_ci.derived import kubernetes
from gpu_ci.knowledge.kubernetes.pods import pod_from_template
from gpu_ci.knowledge.kubernetes.template_node import template_node
from gpu_ci.knowledge.verdict import Level
from gpu_ci.policy.rules.pods import namespaces_enforce_pod_security, pods_are_confined, pods_end
from ops.plan.model import Plan
from ops.plan.recorder import record
from tests.charts import objects
from tests.checks.stacks import stack
from tests.plan import stacks

pytestmark = pytest.mark.plan

SECTION = {"image": "runner-gpu", "on-up": True, "timeout-minutes": 40}


def planned(name: str = stacks.STAGING, **section: Any) -> Plan:
    file = stacks.stack_file(name)
    return record(replace(file, config={**file.config, "gpu-ci:smoke-test": json.dumps({**SECTION, **section})}))


def jobs(plan: Plan) -> dict[str, Any]:
    return {one.inputs["metadata"]["name"]: one.inputs for one in plan.of("kubernetes:batch/v1:Job")}


def test_each_pool_has_a_job_on_its_nodes_with_all_gpus_of_a_node() -> None:
    made = jobs(planned())
    spec = made["gpu-smoke-t4-spot"]["spec"]["template"]["spec"]

    assert set(made) == {"gpu-smoke-t4-spot", "gpu-smoke-t4-on-demand"}
    assert spec["nodeSelector"] == {"gpu-ci/pool": "t4-spot"}
    assert spec["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    assert spec["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "1"
    assert spec["containers"][0]["command"] == ["python3", "-c", PROGRAM.read_text(encoding="utf-8")]
    assert {one["name"]: one["value"] for one in spec["containers"][0]["env"]}["GPU_CI_GPUS"] == "1"


def test_a_job_has_a_deadline_and_is_retried_once_at_most() -> None:
    spec = jobs(planned())["gpu-smoke-t4-spot"]["spec"]

    assert (spec["activeDeadlineSeconds"], spec["backoffLimit"]) == (40 * 60, 1)
    assert spec["template"]["spec"]["restartPolicy"] == "Never"
    assert "ttlSecondsAfterFinished" not in spec


def test_the_pod_is_restricted_and_the_policies_hold() -> None:
    plan = planned()
    (namespace,) = [one for one in plan.of("kubernetes:core/v1:Namespace") if one.name == "smoke-test"]
    violations = [
        message
        for one in (*plan.of("kubernetes:batch/v1:Job"), namespace)
        for rule in (pods_are_confined, pods_end, namespaces_enforce_pod_security)
        for message in rule(one.type, one.name, one.inputs)
    ]
    spec = jobs(plan)["gpu-smoke-t4-spot"]["spec"]["template"]["spec"]

    assert namespace.inputs["metadata"]["labels"] == {"pod-security.kubernetes.io/enforce": "restricted"}
    assert violations == []
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["containers"][0]["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }


def test_kubernetes_knows_every_field_of_the_job() -> None:
    for name, made in jobs(planned()).items():
        assert list(objects.faults(made["spec"], batch.JobSpecArgs, name)) == []


def test_network_policies_do_not_select_the_pod() -> None:
    policies = planned().of("kubernetes:networking.k8s.io/v1:NetworkPolicy")

    assert policies
    assert NAMESPACE not in {one.inputs["metadata"]["namespace"] for one in policies}


def test_the_job_waits_for_the_device_plugin_and_the_autoscaler() -> None:
    plan = planned()
    (job,) = [one for one in plan.of("kubernetes:batch/v1:Job") if one.name == "smoke-test-t4-spot"]
    needed = {urn.rpartition("::")[2] for urn in job.dependencies}

    assert {"device-plugin", "autoscaler"} <= needed


def test_without_on_up_only_the_namespace_is_declared() -> None:
    plan = planned(stacks.STAGING, **{"on-up": False})

    assert jobs(plan) == {}
    assert [one.inputs["metadata"]["name"] for one in plan if one.name == "smoke-test" and one.inputs] == [NAMESPACE]


@pytest.mark.parametrize("name", ["examples/eks-arc.yaml"])
def test_an_empty_pool_scales_for_the_pod_of_its_test(name: str) -> None:
    tested = stack({"smoke-test": {"image": "actions-runner-cuda"}}, name)
    groups = {group.name: group for group in kubernetes.node_groups(tested)}
    tests = {job.pool: job for job in kubernetes.smoke_jobs(tested.settings)}

    assert set(tests) == set(groups)
    assert tests["t4-shared"].gpus == 1
    for pool, group in groups.items():
        pod = pod_from_template(pod_template(tests[pool], "image"))
        node = template_node(group).node
        assert all(any(toleration.tolerates(taint) for toleration in pod.tolerations) for taint in node.taints)
        assert fit.holds(pod, group, kubernetes.daemonsets(tested.settings))


def test_an_image_that_no_node_can_hold_is_an_error() -> None:
    changes = {
        "images/huge": {"reference": "example.org/huge", "tag": "1.0", "cuda": "12.9", "compressed": "900Gi"},
        "smoke-test": {"image": "huge"},
    }
    errors = [one for one in fit.check(stack(changes, "examples/eks-arc.yaml")) if one.level is Level.ERROR]

    assert [one.subject for one in errors] == ["images.huge.compressed"]
    assert "the image takes at least 900Gi" in errors[0].reason


def test_an_image_for_a_newer_cuda_than_the_driver_of_the_nodes_is_a_warning() -> None:
    def warnings(cuda: str) -> list[str]:
        new = {"reference": "ghcr.io/example-org/torch", "tag": "1.0", "cuda": cuda}
        changed = stack({"images/new": new, "smoke-test": {"image": "new"}}, "examples/eks-arc.yaml")
        return [one.subject for one in compatibility.check(changed) if one.level is Level.WARNING]

    assert warnings("12.8") == []
    assert set(warnings("13.3")) == {"smoke-test.image"}
