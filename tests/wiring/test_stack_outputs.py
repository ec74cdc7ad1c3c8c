"""Outputs of a stack agree with the resources of its plan."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.config import stacks as files
from tests.plan import stacks
from wiring.outputs import verify

if TYPE_CHECKING:
    from pathlib import Path

    from ops.plan.model import Plan

pytestmark = pytest.mark.plan

CLUSTERS = [name for name in stacks.NAMES if "cluster" in files.sections(name)]
REGISTRIES = [name for name in stacks.NAMES if "ecr" in files.sections(name)]
CLOUD_NAMESPACES = {"kube-system"}


def commands(plan: Plan) -> dict[str, str]:
    found: dict[str, str] = plan.outputs["verify"]
    return found


@pytest.mark.parametrize("name", stacks.NAMES)
def test_runs_on_has_the_line_for_each_runner(name: str) -> None:
    said = stacks.planned(name).outputs["runs_on"]
    runners = files.sections(name).get("runners", {})

    assert set(said) == set(runners)
    for runner, stated in runners.items():
        if "arc" in stated:
            assert said[runner] == f"runs-on: {runner}"
        elif {"vm", "start-stop"} & {*stated}:
            jarvis = "jarvis" in stated.get("start-stop", {})
            labels = [runner] if jarvis else ["self-hosted", "linux", "x64", "gpu", runner]
            assert said[runner] == f"runs-on: [{', '.join(labels)}]"
        else:
            assert re.fullmatch(
                r'runs-on: "cirun-[a-z0-9-]+--\$\{\{ github\.run_id \}\}-\$\{\{ github\.run_attempt \}\}"', said[runner]
            )


@pytest.mark.parametrize("name", CLUSTERS)
def test_configure_kubectl_names_the_cluster_and_its_region(name: str) -> None:
    plan = stacks.planned(name)
    (cluster,) = plan.of("aws:eks/cluster:Cluster")
    region = files.sections(name)["aws"]["region"]

    assert plan.outputs["configure_kubectl"] == (
        f"aws eks update-kubeconfig --name {cluster.inputs['name']} --region {region}"
    )
    assert plan.outputs["cluster"]["name"] == cluster.inputs["name"]
    assert plan.outputs["kubeconfig"] == "[secret]"


@pytest.mark.parametrize("name", CLUSTERS)
def test_verify_commands_use_namespaces_and_labels_that_exist(name: str) -> None:
    plan = stacks.planned(name)
    namespaces = {each.inputs["metadata"]["name"] for each in plan.of("kubernetes:core/v1:Namespace")}
    used = {found for text in commands(plan).values() for found in re.findall(r"--namespace (\S+)", text)}
    labels = {key for group in plan.of("aws:eks/nodeGroup:NodeGroup") for key in group.inputs["labels"]}
    text = " ".join(commands(plan).values())

    assert used <= namespaces | CLOUD_NAMESPACES
    assert {"nvidia.com/gpu", "gpu-ci/pool"} <= labels
    assert "--selector nvidia.com/gpu=true" in text
    assert "gpu-ci/runner" in text


@pytest.mark.parametrize(
    ("section", "omitted"),
    [
        ("autoscaler", {"autoscaler", "autoscaler-log"}),
        ("arc", {"scale-sets", "listeners", "runner-log"}),
        ("monitoring", {"usage"}),
    ],
)
def test_verify_omits_the_commands_of_disabled_sections(section: str, omitted: set[str]) -> None:
    settings = files.settings()
    without = settings.model_copy(update={section: None})

    assert set(verify(settings)) - set(verify(without)) == omitted


def test_verify_commands_work_without_a_gpu_node_and_with_two_containers(tmp_path: Path) -> None:
    """`kubectl exec daemonset/NAME` fails without a pod; of two containers `logs` prints the first."""
    stub = tmp_path / "kubectl"
    stub.write_text('#!/bin/sh\necho "$*" >> "$LOG"\n[ "$3" = get ] && [ "$4" = pods ] && cat "$PODS"; exit 0\n')
    stub.chmod(0o755)
    (tmp_path / "pods").write_text("")
    found = verify(files.settings())

    def calls(pods: str) -> list[str]:
        (tmp_path / "pods").write_text(pods)
        (tmp_path / "log").unlink(missing_ok=True)
        path = f"{tmp_path}:{os.environ['PATH']}"
        env = {"PATH": path, "LOG": str(tmp_path / "log"), "PODS": str(tmp_path / "pods")}
        done = subprocess.run(["/bin/sh", "-c", found["gpu-use"]], env=env, check=True, capture_output=True, text=True)
        assert done.stderr == ""
        return (tmp_path / "log").read_text().splitlines()

    assert len(calls("")) == 1
    assert calls("pod/nvidia-device-plugin-a\npod/nvidia-device-plugin-mps-control-daemon-b\n")[1:] == [
        (
            "--namespace kube-system exec pod/nvidia-device-plugin-a --container nvidia-device-plugin-ctr"
            " -- nvidia-smi dmon -c 5"
        )
    ]
    assert "--all-containers" in found["device-plugin-log"]


@pytest.mark.parametrize("name", REGISTRIES)
def test_registry_login_is_for_the_registry_of_the_repositories(name: str) -> None:
    plan = stacks.planned(name)
    hosts = {url.partition("/")[0] for url in plan.outputs["repositories"].values()}

    assert {host for host in hosts if plan.outputs["registry_login"].endswith(f" {host}")} == hosts
    assert "--password-stdin" in plan.outputs["registry_login"]
