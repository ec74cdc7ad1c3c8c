"""Tests of the components in the cluster: one provider, and an order that can be deleted."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

import pulumi
import pulumi_aws as aws
import pytest
from pulumi import ResourceOptions

from components.kubernetes.arc.arc_controller import SERVICE_ACCOUNT, ArcController, ArcControllerArgs
from components.kubernetes.arc.hooks import SCRIPTS
from components.kubernetes.arc.scale_set import JobHooks, JobHooksArgs, ScaleSet, ScaleSetArgs
from components.kubernetes.arc.scale_set_values import ScaleSetValues, job_pod
from components.kubernetes.autoscaler import Autoscaler, AutoscalerArgs
from components.kubernetes.autoscaler_values import AutoscalerValues
from components.kubernetes.chart import chart
from components.kubernetes.connection import Connection, ConnectionArgs
from components.kubernetes.gpus.device_plugin import DevicePlugin, DevicePluginArgs
from components.kubernetes.gpus.device_plugin_values import DevicePluginValues
from components.kubernetes.gpus.gpu_metrics import GpuMetrics, GpuMetricsArgs
from components.kubernetes.gpus.gpu_metrics_values import GpuMetricsValues
from components.kubernetes.namespaces import SYSTEMS
from components.kubernetes.storage import Storage, StorageArgs
from ops.plan.model import Plan, Planned
from ops.plan.recorder import record
from tests.components.made import before, made, names, only, part, waits_for
from tests.ops.small import KEY, stack_file
from tests.plan import stacks

pytestmark = pytest.mark.plan

RELEASE = "kubernetes:helm.sh/v3:Release"
NAMESPACE = "kubernetes:core/v1:Namespace"
SECRET = "kubernetes:core/v1:Secret"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
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
    tolerations=({"key": "nvidia.com/gpu", "operator": "Exists"},),
)


def runners(container_mode: Any = "none") -> Plan:
    """The controller and one runner, as they are put together."""

    def build(here: ResourceOptions) -> None:
        args = ArcControllerArgs(
            version="0.14.2",
            log_level="info",
            kubeconfig="{}",
            github_url="https://github.com/example-org",
            app_id=1,
            installation_id=2,
            private_key=pulumi.Output.secret("the App's key"),
        )
        controller = ArcController("arc", args, here)
        hooks = JobHooks("job-hooks", JobHooksArgs(namespace=controller.runners_namespace), here)
        values = replace(RUNNER, container_mode=container_mode)
        ScaleSet(
            "runner-gpu-t4",
            ScaleSetArgs(
                values=values,
                version="0.14.2",
                namespace=controller.scale_sets_namespace,
                image="registry.example/runner@sha256:0",
                secret_name=controller.secret_name,
                kubeconfig="{}",
                controller=controller.installed,
                controller_namespace=SYSTEMS,
                controller_account=SERVICE_ACCOUNT,
                after=[controller.ready, hooks.config_map],
            ),
            here,
        )

    return made(build)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return runners()


@pytest.fixture(scope="module")
def separate() -> Plan:
    return runners("kubernetes-novolume")


@pytest.fixture(scope="module")
def connection() -> Plan:
    def program() -> None:
        here = ResourceOptions(providers=[aws.Provider("aws", region="us-west-2")])
        args = ConnectionArgs(
            name="gpu-ci-small",
            arn="arn:aws:eks:us-west-2:123456789012:cluster/gpu-ci-small",
            endpoint="https://x.eks.example",
            certificate_authority="Q0E=",
            region="us-west-2",
            after=[before("access"), before("nodes")],
        )
        inside = Connection("kubernetes", args, here)
        Storage("storage", StorageArgs(default_class=True), ResourceOptions(providers=[inside.provider]))

    return record(stack_file(), program=program)


def test_only_another_cluster_replaces_the_objects_in_the_cluster(connection: Plan) -> None:
    """Without the identifier the provider guesses from the kubeconfig, and may replace everything."""
    provider = connection.one("pulumi:providers:kubernetes", "kubernetes")

    assert provider.inputs["enableConfigMapMutable"] == "true"
    assert provider.inputs["clusterIdentifier"] == "arn:aws:eks:us-west-2:123456789012:cluster/gpu-ci-small"


def test_the_kubeconfig_is_secret(connection: Plan) -> None:
    assert "kubeconfig" in connection.one("pulumi:providers:kubernetes", "kubernetes").secret_paths


def test_objects_in_the_cluster_depend_on_access_and_nodes(connection: Plan) -> None:
    """The dependency is one edge, on the provider."""
    inside = only(connection, "kubernetes:storage.k8s.io/v1:StorageClass")

    assert all(waits_for(connection, inside, connection.one(KEY, name)) for name in ("access", "nodes"))


def test_a_volume_is_encrypted_and_created_in_the_zone_of_its_pod(connection: Plan) -> None:
    """A volume that is bound at once may be in a zone that its pod cannot reach."""
    found = only(connection, "kubernetes:storage.k8s.io/v1:StorageClass").inputs

    assert found["parameters"] == {"type": "gp3", "encrypted": "true"}
    assert found["volumeBindingMode"] == "WaitForFirstConsumer"
    assert found["provisioner"] == "ebs.csi.aws.com"
    assert found["metadata"]["annotations"] == {"storageclass.kubernetes.io/is-default-class": "true"}


def test_every_release_has_the_common_inputs() -> None:
    def build(here: ResourceOptions) -> None:
        values = DevicePluginValues(fail_on_init_error=True, tolerations=[])
        parent = DevicePlugin("plugin", DevicePluginArgs(version="0.20.0", values=values), here)
        chart(
            "own", release="own", chart_name="oci://registry.example/own", version="1.2.3", namespace="own",
            values={"key": 1}, parent=parent, after=[before("first")], atomic=False,
        )  # fmt: skip

    plan = made(build)
    own, plugin = plan.one(RELEASE, "own"), plan.one(RELEASE, "plugin")

    assert own.inputs["name"] == "own"
    assert own.inputs.keys().isdisjoint({"repositoryOpts"})
    assert (own.inputs["atomic"], plugin.inputs["atomic"]) == (False, True)
    assert (own.inputs["skipAwait"], own.inputs["cleanupOnFail"], own.inputs["timeout"]) == (False, True, 600)
    assert own.delete_before_replace
    assert waits_for(plan, own, plan.one(KEY, "first"))
    assert plugin.inputs["repositoryOpts"] == {"repo": "https://nvidia.github.io/k8s-device-plugin"}
    assert plugin.inputs["namespace"] == "kube-system"


def in_order(plan: Plan, steps: list[Planned]) -> list[str]:
    """The names of those that do not wait for the next one."""
    return [one.name for one, other in itertools.pairwise(steps) if not waits_for(plan, one, other)]


@pytest.mark.parametrize("which", ["plan", "separate"])
def test_a_scale_set_is_deleted_before_its_secret_and_its_controller(
    which: str, request: pytest.FixtureRequest
) -> None:
    """Without the key it stays on GitHub; without the controller its finalizers stay."""
    plan: Plan = request.getfixturevalue(which)
    steps = [
        plan.one(RELEASE, "runner-gpu-t4"),
        plan.one(SECRET, "arc-github-app"),
        plan.one(RELEASE, "arc"),
        plan.one(NAMESPACE, "arc-runners"),
    ]

    assert in_order(plan, steps) == []
    assert waits_for(plan, plan.one(RELEASE, "arc"), plan.one(NAMESPACE, "arc-systems"))
    assert waits_for(plan, plan.one(RELEASE, "runner-gpu-t4"), plan.one(CONFIG_MAP, "job-hooks"))


def test_only_the_secret_contains_the_key_of_the_app(plan: Plan) -> None:
    secret = plan.one(SECRET, "arc-github-app")

    assert part(secret, "stringData") == {
        "github_app_id": "1",
        "github_app_installation_id": "2",
        "github_app_private_key": "the App's key",
    }
    assert any(path.startswith("stringData") for path in secret.secret_paths)
    assert [each.name for each in plan if each is not secret and "the App" in json.dumps(each.shown)] == []


def test_runners_may_not_get_root_on_their_node(plan: Plan) -> None:
    labels = part(plan.one(NAMESPACE, "arc-runners"), "metadata", "labels")

    assert labels["pod-security.kubernetes.io/enforce"] == "baseline"


def test_names_in_the_cluster_equal_the_documented_names(plan: Plan) -> None:
    declared_names = {each.name: part(each, "metadata", "name") for each in (*plan.of(NAMESPACE), *plan.of(SECRET))}

    assert declared_names == {
        "arc-systems": "arc-systems",
        "arc-runners": "arc-runners",
        "arc-github-app": "github-app",
    }
    assert plan.one(RELEASE, "runner-gpu-t4").inputs["name"] == "gpu-t4"


def test_the_config_map_contains_the_tested_hook_scripts(plan: Plan) -> None:
    assert part(plan.one(CONFIG_MAP, "job-hooks"), "data") == SCRIPTS


def test_the_template_of_a_separate_job_pod_is_in_the_namespace_of_the_runner(separate: Plan) -> None:
    described = separate.one(CONFIG_MAP, "runner-gpu-t4-job-pod")

    assert part(described, "metadata") == {"name": "job-pod-gpu-t4", "namespace": "arc-runners"}
    assert json.loads(part(described, "data", "job.yaml")) == job_pod(RUNNER)
    assert waits_for(separate, separate.one(RELEASE, "runner-gpu-t4"), described)


def test_a_runner_with_its_own_gpu_has_no_job_pod_template(plan: Plan) -> None:
    assert names(plan, CONFIG_MAP) == ["arc-github", "job-hooks"]


@pytest.mark.parametrize("name", ["arc", "runner-gpu-t4"])
def test_a_failed_release_of_a_runner_keeps_its_objects(plan: Plan, name: str) -> None:
    """The objects show the cause of the failure."""
    assert plan.one(RELEASE, name).inputs["atomic"] is False


def test_the_autoscaler_starts_with_its_role() -> None:
    """A pod that starts before the binding does not get the role."""
    values = AutoscalerValues(
        region="us-west-2", image_tag="v1.35.2", expander=("least-waste",), scale_down_after_minutes=5,
        provision_timeout_minutes=10, capacities={},
    )  # fmt: skip
    args = AutoscalerArgs(cluster_name="c", known_cluster_name="gpu-ci-small", version="9.59.0", values=values)
    plan = made(lambda here: Autoscaler("autoscaler", args, here))
    release = only(plan, RELEASE)
    binding = only(plan, "aws:eks/podIdentityAssociation:PodIdentityAssociation")
    permission = only(plan, "aws:iam/rolePolicy:RolePolicy")

    assert (binding.inputs["namespace"], binding.inputs["serviceAccount"]) == ("kube-system", "cluster-autoscaler")
    assert waits_for(plan, release, binding)
    assert waits_for(plan, release, permission)
    assert "cluster-autoscaler/gpu-ci-small" in permission.inputs["policy"]


def test_the_exporter_has_its_own_namespace() -> None:
    """Its names are fixed, so each namespace can contain one."""
    args = GpuMetricsArgs(
        version="4.8.2", values=GpuMetricsValues(interval_seconds=30, service_monitor=False, tolerations=[])
    )
    plan = made(lambda here: GpuMetrics("gpu-metrics", args, here))

    assert only(plan, RELEASE).inputs["namespace"] == part(only(plan, NAMESPACE), "metadata", "name") == "gpu-metrics"
    assert waits_for(plan, only(plan, RELEASE), only(plan, NAMESPACE))


def test_a_preview_states_how_long_the_removal_of_a_runner_can_take(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr(pulumi.log, "info", lambda text, _resource: lines.append(text))
    record(stacks.stack_file("examples/eks-arc.yaml"))
    assert lines == []
    record(stacks.stack_file("examples/eks-arc.yaml"), preview=True)

    assert lines == [
        "A runner is removed or replaced after its running jobs: gpu-l4 within 130 minutes, gpu-light within 70 minutes"
    ]
