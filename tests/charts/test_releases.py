"""The releases of the committed stack files agree with each other, with the nodes and with the charts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pulumi_kubernetes as k8s
import pytest

from components.aws.nodes.taints import EFFECTS
from gpu_ci.knowledge.kubernetes.daemonsets import DaemonSet
from gpu_ci.knowledge.kubernetes.pods import Taint, pod_from_template
from gpu_ci.knowledge.kubernetes.scheduling import Node, label_refusals, lands, taint_refusals
from ops.plan.model import Planned
from tests.charts import objects, releases
from tests.charts.releases import CONTROLLER, SCALE_SET, STACKS, Release
from tests.plan import stacks

pytestmark = pytest.mark.plan

GPU = "nvidia.com/gpu"
SHARED = "examples/eks-arc.yaml"


def gpu_pools(stack: str) -> list[Planned]:
    return [group for group in groups(stack) if "nvidia.com/gpu" in group.inputs["labels"]]


def node(group: Planned) -> Node:
    """A node of the group, as scheduling sees it."""
    stated = group.inputs.get("taints") or ()
    taints = tuple(Taint(key=t["key"], value=t["value"], effect=EFFECTS[t["effect"]]) for t in stated)
    return Node(labels=group.inputs["labels"], taints=taints)


def groups(stack: str) -> tuple[Planned, ...]:
    return stacks.planned(stack).of("aws:eks/nodeGroup:NodeGroup")


def config_maps(stack: str) -> dict[str, Mapping[str, str]]:
    found = stacks.planned(stack).of("kubernetes:core/v1:ConfigMap")
    return {each.inputs["metadata"]["name"]: each.inputs["data"] for each in found}


def runner(release: Release) -> dict[str, Any]:
    """The runner's container."""
    (container,) = release.values["template"]["spec"]["containers"]
    return dict(container)


def environment(release: Release) -> dict[str, str]:
    return {variable["name"]: variable["value"] for variable in runner(release)["env"]}


def job_templates(stack: str) -> dict[str, dict[str, Any]]:
    """Runner to the separate pod of its jobs."""
    found = {name: data for name, data in config_maps(stack).items() if name.startswith("job-pod-")}
    return {name.removeprefix("job-pod-"): json.loads(data["job.yaml"]) for name, data in found.items()}


def gpu_pods(stack: str) -> dict[str, dict[str, Any]]:
    """Runner to the template of the pod that has the GPU: its own, or its job's."""
    own = {
        release.values["runnerScaleSetName"]: release.values["template"]
        for release in releases.of(stack, SCALE_SET)
        if "containerMode" not in release.values
    }
    return {**own, **job_templates(stack)}


def test_the_stack_files_contain_runners_of_both_container_modes() -> None:
    assert len(STACKS) >= 3
    assert {name for stack in STACKS for name in gpu_pods(stack)} >= {"gpu-t4", "gpu-light", "gpu-l4"}
    assert {name for stack in STACKS for name in job_templates(stack)} == {"gpu-l4"}


@pytest.mark.parametrize("stack", STACKS)
def test_the_controller_and_the_scale_sets_have_the_same_version(stack: str) -> None:
    """On another minor version the controller deletes the scale set."""
    both = releases.of(stack, CONTROLLER, SCALE_SET)

    assert len(both) >= 2
    assert len({release.inputs["version"] for release in both}) == 1


@pytest.mark.parametrize("stack", STACKS)
def test_a_scale_set_names_the_service_account_of_the_controller(stack: str) -> None:
    """The chart names it `<release>-gha-rs-controller`; by default the chart looks in the cluster, which a preview does not have."""
    for release in releases.of(stack, SCALE_SET):
        (controller,) = releases.of(release.stack, CONTROLLER)
        stated = controller.values.get("serviceAccount", {}).get("name") or controller.values.get("fullnameOverride")

        assert release.values["controllerServiceAccount"] == {
            "namespace": controller.inputs["namespace"],
            "name": stated or f"{controller.inputs['name']}-gha-rs-controller",
        }


def test_the_controller_release_is_named_arc() -> None:
    """A release whose name holds `gha-rs-controller` would give the account that name alone."""
    names = {release.inputs["name"] for stack in STACKS for release in releases.of(stack, CONTROLLER)}

    assert names == {"arc"}


@pytest.mark.parametrize("stack", STACKS)
def test_every_release_has_a_name_a_version_and_is_awaited(stack: str) -> None:
    """Without a name Pulumi makes one up, after which everything inside the chart is called."""
    for release in releases.of(stack):
        inputs = release.inputs

        assert re.fullmatch(r"[a-z0-9-]{1,53}", inputs["name"])
        assert re.fullmatch(r"\d+\.\d+\.\d+", inputs["version"])
        assert inputs["skipAwait"] is False
        assert release.planned.delete_before_replace


@pytest.mark.parametrize("stack", STACKS)
def test_an_oci_chart_has_no_separate_repository(stack: str) -> None:
    """With one, the provider looks for the chart under a key that does not exist."""
    for release in releases.of(stack):
        assert release.inputs["chart"].startswith("oci://") != ("repositoryOpts" in release.inputs)


@pytest.mark.parametrize("stack", STACKS)
def test_release_names_are_unique_in_a_namespace(stack: str) -> None:
    names = [(release.inputs["namespace"], release.inputs["name"]) for release in releases.of(stack)]

    assert len(names) == len(set(names))


@pytest.mark.parametrize("stack", STACKS)
def test_the_name_of_a_scale_set_is_the_runs_on_label(stack: str) -> None:
    for release in releases.of(stack, SCALE_SET):
        name = release.values["runnerScaleSetName"]

        assert release.planned.name == f"runner-{name}"
        assert len(name) <= 45
        assert stacks.planned(release.stack).outputs["runs_on"][name] == f"runs-on: {name}"


@pytest.mark.parametrize("stack", STACKS)
def test_a_scale_set_references_its_secret_by_name(stack: str) -> None:
    """Helm stores values in its history, so a key must not be there."""
    for release in releases.of(stack, SCALE_SET):
        (secret,) = stacks.planned(release.stack).of("kubernetes:core/v1:Secret")

        assert release.values["githubConfigSecret"] == secret.inputs["metadata"]["name"]
        assert secret.inputs["metadata"]["namespace"] == release.inputs["namespace"]
        assert set(secret.inputs["stringData"]) == {
            "github_app_id",
            "github_app_installation_id",
            "github_app_private_key",
        }


@pytest.mark.parametrize("stack", STACKS)
def test_the_runner_container_has_the_name_that_the_chart_expects(stack: str) -> None:
    """A list replaces the chart's own: without name or command the runner never starts."""
    for release in releases.of(stack, SCALE_SET):
        container = runner(release)

        assert container["name"] == "runner"
        assert container["command"] == ["/home/runner/run.sh"]
        assert release.values["template"]["spec"]["securityContext"] == {
            "fsGroup": 1001,
            "seccompProfile": {"type": "RuntimeDefault"},
        }


@pytest.mark.parametrize("stack", STACKS)
def test_a_listener_runs_on_the_system_nodes(stack: str) -> None:
    for release in releases.of(stack, SCALE_SET):
        spec = release.values["listenerTemplate"]["spec"]
        # An existing cluster has system nodes that the stack does not declare.
        systems = [group for group in groups(release.stack) if not group.inputs.get("taints")]
        labels = systems[0].inputs["labels"] if systems else {"role": "system"}

        assert [container["name"] for container in spec["containers"]] == ["listener"]
        assert spec["nodeSelector"]
        assert spec["nodeSelector"].items() <= labels.items()


@pytest.mark.parametrize("stack", STACKS)
def test_the_minimum_of_runners_is_an_integer_up_to_the_maximum(stack: str) -> None:
    for release in releases.of(stack, SCALE_SET):
        least, most = release.values["minRunners"], release.values["maxRunners"]

        assert (type(least), type(most)) == (int, int)
        assert 0 <= least <= most


@pytest.mark.parametrize("stack", STACKS)
def test_both_hooks_are_mounted_and_configured(stack: str) -> None:
    for release in releases.of(stack, SCALE_SET):
        scripts = config_maps(release.stack)["job-hooks"]
        spec = release.values["template"]["spec"]
        (volume,) = [v for v in spec["volumes"] if v.get("configMap", {}).get("name") == "job-hooks"]
        (mount,) = [m for m in runner(release)["volumeMounts"] if m["name"] == volume["name"]]
        variables = environment(release)

        assert volume["configMap"]["defaultMode"] & 0o111 == 0o111
        assert variables["ACTIONS_RUNNER_HOOK_JOB_STARTED"] == f"{mount['mountPath']}/job-started.sh"
        assert variables["ACTIONS_RUNNER_HOOK_JOB_COMPLETED"] == f"{mount['mountPath']}/job-completed.sh"
        assert set(scripts) == {"job-started.sh", "job-completed.sh"}
        assert all(script.startswith("#!/usr/bin/env bash\n") for script in scripts.values())


@pytest.mark.parametrize("stack", STACKS)
def test_every_mount_has_a_volume(stack: str) -> None:
    for release in releases.of(stack, SCALE_SET):
        volumes = {volume["name"] for volume in release.values["template"]["spec"]["volumes"]}
        mounted = {mount["name"] for mount in runner(release)["volumeMounts"]}
        named = {v["configMap"]["name"] for v in release.values["template"]["spec"]["volumes"] if "configMap" in v}

        assert mounted == volumes
        assert named <= set(config_maps(release.stack))


@pytest.mark.parametrize("stack", STACKS)
def test_a_hook_expects_the_number_of_gpus_of_its_container(stack: str) -> None:
    for release in releases.of(stack, SCALE_SET):
        limits = runner(release)["resources"]["limits"]

        assert environment(release)["GPU_CI_GPUS"] == limits.get(GPU, "0")


@pytest.mark.parametrize("stack", STACKS)
def test_a_runner_on_a_gpu_node_requests_a_gpu(stack: str) -> None:
    """Without a limit a container on a GPU node sees every GPU of it."""
    for release in releases.of(stack, SCALE_SET):
        pod = pod_from_template(release.values["template"])
        on_a_gpu_node = [pool.name for pool in gpu_pools(stack) if not label_refusals(pod, node(pool))]

        assert bool(on_a_gpu_node) == (GPU in runner(release)["resources"]["limits"])


@pytest.mark.parametrize("stack", STACKS)
def test_a_job_runs_on_the_pools_of_its_runner_and_tolerates_their_taints(stack: str) -> None:
    runners = json.loads(stacks.stack_file(stack).config["gpu-ci:runners"])
    for name, template in gpu_pods(stack).items():
        pod = pod_from_template(template)
        pools = [group for group in groups(stack) if group.inputs.get("taints")]
        homes = [pool for pool in pools if not label_refusals(pod, node(pool))]
        named = {runners[name]["arc"].get(key) for key in ("pool", "fallback")} - {None}

        assert {pool.inputs["labels"]["gpu-ci/pool"] for pool in homes} == named
        assert [taint_refusals(pod, node(pool)) for pool in homes] == [()] * len(homes)


@pytest.mark.parametrize("stack", STACKS)
def test_a_gpu_pod_is_not_evicted_and_has_a_deadline(stack: str) -> None:
    for template in gpu_pods(stack).values():
        annotations = template["metadata"]["annotations"]

        assert annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] == "false"
        assert template["spec"]["activeDeadlineSeconds"] > 0


def test_the_job_pod_of_a_novolume_runner_gets_the_gpu() -> None:
    (release,) = [each for each in releases.of(SHARED, SCALE_SET) if "containerMode" in each.values]
    template = job_templates(release.stack)[release.values["runnerScaleSetName"]]
    variables = environment(release)
    (volume,) = [v for v in release.values["template"]["spec"]["volumes"] if v["name"] == "job-template"]
    (mount,) = [m for m in runner(release)["volumeMounts"] if m["name"] == "job-template"]

    assert release.values["containerMode"] == {"type": "kubernetes-novolume"}
    assert list(objects.faults(template, k8s.core.v1.PodTemplateSpecArgs, "job")) == []
    assert [container["name"] for container in template["spec"]["containers"]] == ["$job"]
    assert template["spec"]["containers"][0]["resources"]["limits"][GPU] == "1"
    assert volume["configMap"]["name"] == f"job-pod-{release.values['runnerScaleSetName']}"
    assert variables["ACTIONS_RUNNER_CONTAINER_HOOK_TEMPLATE"] == f"{mount['mountPath']}/job.yaml"
    assert variables["ACTIONS_RUNNER_USE_KUBE_SCHEDULER"] == "true"
    assert release.values["template"]["spec"]["nodeSelector"] == {"role": "system"}


@pytest.mark.parametrize("stack", STACKS)
def test_no_runner_claims_a_volume(stack: str) -> None:
    """A claim would need a class that every node can mount."""
    for release in releases.of(stack, SCALE_SET):
        assert '"ephemeral"' not in json.dumps(release.values["template"])
        assert "persistentVolumeClaim" not in json.dumps(release.values)
        assert release.values.get("containerMode", {}).keys() <= {"type"}


@pytest.mark.parametrize("stack", STACKS)
def test_every_image_is_pinned_to_a_digest_or_an_exact_tag(stack: str) -> None:
    """Every image is named by its digest or by an exact tag."""
    texts = [json.dumps(release.values) for release in releases.of(stack)]
    images = [image for text in texts for image in re.findall(r'"image": "([^"]+)"', text)]

    assert len(images) == len(releases.of(stack, SCALE_SET))
    assert [image for image in images if not re.search(r"@sha256:[0-9a-f]{64}$|:[0-9][\w.-]+$", image)] == []
    assert [text for text in texts if re.search(r"[:@]latest\b", text)] == []


@pytest.mark.parametrize("stack", STACKS)
def test_the_device_plugin_runs_on_gpu_nodes_only(stack: str) -> None:
    """A node that its affinity does not meet gets no pod, no event and no GPU."""
    (release,) = releases.of(stack, "nvidia-device-plugin")
    spec = {key: release.values[key] for key in ("affinity", "tolerations")}
    plugin = DaemonSet.of("plugin", {"spec": spec})

    assert [group.name for group in groups(stack) if not lands(plugin, node(group))] == [
        pool.name for pool in gpu_pools(stack)
    ]


@pytest.mark.parametrize("stack", STACKS)
def test_node_labels_name_the_configurations_of_the_device_plugin(stack: str) -> None:
    (release,) = releases.of(stack, "nvidia-device-plugin")
    known = set(release.values.get("config", {}).get("map", {}))
    named = {pool.inputs["labels"].get("nvidia.com/device-plugin.config") for pool in gpu_pools(stack)} - {None}

    assert named == known - {"default"}


@pytest.mark.parametrize("stack", ["tests/stacks/staging.yaml", "tests/stacks/production.yaml"])
def test_the_exporter_runs_on_gpu_nodes_only_and_needs_no_operator(stack: str) -> None:
    (release,) = releases.of(stack, "dcgm-exporter")
    spec = {key: release.values[key] for key in ("nodeSelector", "tolerations")}
    exporter = DaemonSet.of("exporter", {"spec": spec})

    assert [group.name for group in groups(stack) if not lands(exporter, node(group))] == [
        pool.name for pool in gpu_pools(stack)
    ]
    assert release.values["serviceMonitor"]["enabled"] is False


@pytest.mark.parametrize("stack", STACKS)
def test_the_autoscaler_has_the_minor_version_and_the_name_of_the_cluster(stack: str) -> None:
    """Without the cluster's name the chart renders nothing, and says nothing."""
    (release,) = releases.of(stack, "cluster-autoscaler")
    stated = json.loads(stacks.stack_file(stack).config["gpu-ci:cluster"])
    existing = stated.get("existing")
    clusters = stacks.planned(stack).of("aws:eks/cluster:Cluster")
    name = existing["name"] if existing else clusters[0].inputs["name"]

    assert len(clusters) == (0 if existing else 1)
    assert release.values["autoDiscovery"] == {"clusterName": name}
    assert release.values["image"]["tag"].startswith(f"v{stated['version']}.")


@pytest.mark.parametrize("stack", STACKS)
def test_the_role_of_the_autoscaler_is_bound_to_its_service_account(stack: str) -> None:
    (release,) = releases.of(stack, "cluster-autoscaler")
    bound = {
        (each.inputs["namespace"], each.inputs["serviceAccount"])
        for each in stacks.planned(stack).of("aws:eks/podIdentityAssociation:PodIdentityAssociation")
    }

    assert (release.inputs["namespace"], release.values["rbac"]["serviceAccount"]["name"]) in bound


@pytest.mark.parametrize("stack", STACKS)
def test_a_service_runs_on_the_system_nodes(stack: str) -> None:
    """On a GPU node it would prevent the removal of the node."""
    for chart in (CONTROLLER, "cluster-autoscaler"):
        (release,) = releases.of(stack, chart)

        assert release.values["nodeSelector"] == {"role": "system"}
        assert not release.values.get("tolerations")
