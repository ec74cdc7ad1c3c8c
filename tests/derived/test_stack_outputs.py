"""Outputs of a stack agree with the resources of its plan."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from gpu_ci.derived.outputs import verify
from ops.cli.options import ROOT
from ops.plan.model import Plan
from tests.plan import stacks
from tests.stack_file import stacks as files

pytestmark = pytest.mark.plan

CLUSTERS = [name for name in stacks.NAMES if "cluster" in files.sections(name)]
REGISTRIES = [name for name in stacks.NAMES if "ecr" in files.sections(name)]
CLOUD_NAMESPACES = {"kube-system"}


def commands(plan: Plan) -> dict[str, str]:
    found: dict[str, str] = plan.outputs["verify"]
    return found


@pytest.mark.parametrize("name", stacks.NAMES)
def test_runs_on_has_the_line_for_each_runner(name: str) -> None:
    shown = stacks.planned(name).outputs["runs_on"]
    runners = files.sections(name).get("runners", {})

    assert set(shown) == set(runners)
    for runner, stated in runners.items():
        if "arc" in stated:
            assert shown[runner] == f"runs-on: {runner}"
        elif {"vm", "start-stop"} & {*stated}:
            jarvis = "jarvis" in stated.get("start-stop", {})
            labels = [runner] if jarvis else ["self-hosted", "linux", "x64", "gpu", runner]
            assert shown[runner] == f"runs-on: [{', '.join(labels)}]"
        else:
            assert re.fullmatch(
                r'runs-on: "cirun-[a-z0-9-]+--\$\{\{ github\.run_id \}\}-\$\{\{ github\.run_attempt \}\}"',
                shown[runner],
            )


@pytest.mark.parametrize("name", CLUSTERS)
def test_configure_kubectl_names_the_cluster_and_its_region(name: str) -> None:
    plan = stacks.planned(name)
    existing = files.sections(name)["cluster"].get("existing")
    known = existing["name"] if existing else plan.one("aws:eks/cluster:Cluster", "cluster").inputs["name"]
    region = files.sections(name)["aws"]["region"]

    assert plan.outputs["configure_kubectl"] == (f"aws eks update-kubeconfig --name {known} --region {region}")
    assert plan.outputs["cluster"]["name"] == known
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
        ("arc", {"scale-sets", "listeners", "runner-log", "runner-gpu-log"}),
        ("monitoring", {"usage"}),
    ],
)
def test_verify_omits_the_commands_of_disabled_sections(section: str, omitted: set[str]) -> None:
    settings = files.settings()
    without = settings.model_copy(update={section: None})

    assert set(verify(settings)) - set(verify(without)) == omitted


@dataclass(frozen=True, slots=True)
class Kubectl:
    """A `kubectl` that answers from a folder, as the real one does with and without pods and nodes."""

    folder: Path

    def __post_init__(self) -> None:
        stub = self.folder / "kubectl"
        stub.write_text(KUBECTL, encoding="utf-8")
        stub.chmod(0o755)
        for resource in ("nodes", "plugin", "runners"):
            (self.folder / resource).touch()

    def run(self, command: str) -> tuple[subprocess.CompletedProcess[str], list[str]]:
        """Return the result in a strict shell, and the calls."""
        log = self.folder / "log"
        log.unlink(missing_ok=True)
        env = {"PATH": f"{self.folder}:{os.environ['PATH']}", "WORLD": str(self.folder)}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            env=env, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return done, log.read_text().splitlines()


KUBECTL: Final = r"""#!/bin/bash
echo "$*" >> "$WORLD/log"
none() { echo "No resources found${1:+ in $1 namespace}." >&2; exit 0; }
case "$*" in
  *" exec "*)
    [[ "$*" == *"--container nvidia-device-plugin-ctr -- nvidia-smi"* ]] || { echo "error: no container" >&2; exit 1; }
    [[ "$*" == *" exec pod/"* ]] || { echo "error: pod, type/name or --filename must be specified" >&2; exit 1; }
    echo "Tesla T4" ;;
  *"get pods --selector app.kubernetes.io/name=nvidia-device-plugin"*)
    [ -s "$WORLD/plugin" ] || { [[ "$*" == *"--output name"* ]] && exit 0; none kube-system; }
    cat "$WORLD/plugin" ;;
  *"logs --selector gpu-ci/runner"*)
    [ -s "$WORLD/runners" ] || none arc-runners
    [[ "$*" == *"--container runner"* ]] && cat "$WORLD/runners" ;;
  *"logs --selector"*) [ -s "$WORLD/plugin" ] || none kube-system; echo "Registered device plugin" ;;
  *"logs deployment/"*)
    [[ "$*" == *"--container aws-cluster-autoscaler"* ]] || { echo "error: a container name must be specified" >&2; exit 1; }
    echo "no candidates for scale down" ;;
  *"get nodes"*"custom-columns"*) echo "NODE GPUS ALLOCATABLE"; cat "$WORLD/nodes" ;;
  *"get nodes"*) [ -s "$WORLD/nodes" ] || none; cat "$WORLD/nodes" ;;
  *"top nodes"*|*"get daemonset"*|*"get configmap"*) echo found ;;
  *"get pods --selector"*|*"get autoscalingrunnersets"*) none arc-systems ;;
  *) echo "error: unknown command" >&2; exit 1 ;;
esac
"""


@pytest.mark.parametrize("subject", verify(files.settings()))
def test_every_verify_command_succeeds_without_a_gpu_node_or_a_runner(subject: str, tmp_path: Path) -> None:
    done, _ = Kubectl(tmp_path).run(verify(files.settings())[subject])

    assert done.returncode == 0, done.stderr
    assert done.stdout or "No resources found" in done.stderr


@pytest.mark.parametrize("subject", ["gpu-use", "gpu-persistence"])
def test_without_a_gpu_node_the_command_prints_a_message_and_executes_nothing(subject: str, tmp_path: Path) -> None:
    done, calls = Kubectl(tmp_path).run(verify(files.settings())[subject])

    assert done.stdout == "No GPU node runs now.\n"
    assert [call for call in calls if " exec " in call] == []


def test_with_gpu_nodes_the_command_runs_in_the_plugin_s_container_of_each(tmp_path: Path) -> None:
    kubectl = Kubectl(tmp_path)
    (tmp_path / "plugin").write_text(
        "pod/nvidia-device-plugin-a\npod/nvidia-device-plugin-mps-control-daemon-b\npod/nvidia-device-plugin-c\n"
    )
    done, calls = kubectl.run(verify(files.settings())["gpu-use"])

    assert done.stdout == "Tesla T4\nTesla T4\n"
    assert calls[1:] == [
        f"--namespace kube-system exec pod/nvidia-device-plugin-{one}"
        " --container nvidia-device-plugin-ctr -- nvidia-smi dmon -c 5"
        for one in "ac"
    ]


def test_a_runner_log_without_a_match_for_cuda_is_not_an_error(tmp_path: Path) -> None:
    kubectl, command = Kubectl(tmp_path), verify(files.settings())["runner-gpu-log"]
    (tmp_path / "runners").write_text("Listening for Jobs\n")
    quiet, _ = kubectl.run(command)
    (tmp_path / "runners").write_text("RuntimeError: No CUDA GPUs are available\nNVIDIA-SMI has failed\ndone\n")
    loud, _ = kubectl.run(command)

    assert (quiet.returncode, quiet.stdout) == (0, "")
    assert loud.stdout == "RuntimeError: No CUDA GPUs are available\nNVIDIA-SMI has failed\n"


def test_a_cluster_that_does_not_answer_is_an_error(tmp_path: Path) -> None:
    kubectl = Kubectl(tmp_path)
    (tmp_path / "kubectl").write_text('#!/bin/bash\necho "$*" >> "$WORLD/log"\necho Unable to connect >&2\nexit 1\n')

    assert kubectl.run(verify(files.settings())["gpu-use"])[0].returncode == 1


@pytest.mark.parametrize("name", REGISTRIES)
def test_registry_login_is_for_the_registry_of_the_repositories(name: str) -> None:
    plan = stacks.planned(name)
    hosts = {url.partition("/")[0] for url in plan.outputs["repositories"].values()}

    assert {host for host in hosts if plan.outputs["registry_login"].endswith(f" {host}")} == hosts
    assert "--password-stdin" in plan.outputs["registry_login"]


@pytest.mark.parametrize(
    "name", sorted({*CLUSTERS, *REGISTRIES, "examples/eks-own-image.yaml", "examples/cirun-gcp.yaml"})
)
def test_every_output_of_a_stack_is_on_the_outputs_page(name: str) -> None:
    page = (ROOT / "docs" / "reference" / "outputs.md").read_text()
    explained = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    found = {
        re.sub(r"^repository_.*?(_login)?$", r"repository_NAME\1", output) for output in stacks.planned(name).outputs
    }

    assert found - set(explained) == set()
