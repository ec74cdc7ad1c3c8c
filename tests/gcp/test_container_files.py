"""Generated files for the container of a repository's tests: the linters check them, and the script runs with a fake Docker."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

import pytest
import yaml

from gpu_ci.repository.gpu_workflow import TESTS_FILE
from gpu_ci.repository.image_workflow import FOLDER, IMAGE_FILE
from gpu_ci.repository.run_script import RUN_FILE
from gpu_ci.stack_file.identity import Identity
from ops.kit import stack as kit
from tests.artefacts.fake_commands import FakeCommands, Run
from tests.artefacts.linters import NOTHING_FOUND, linter, zizmor
from tests.stack_file import stacks

pytestmark = pytest.mark.artefacts

GCP: Final = "examples/cirun-gcp.yaml"
IMAGE: Final = "us-central1-docker.pkg.dev/gpu-test-runners/gpu-tests/gpu-tests:2026.11.1"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with everything that the example's stack file writes."""
    root = tmp_path / "repository"
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    for path, text in kit.files(stacks.settings(GCP), Identity(project="gpu-ci", stack="staging")).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def checked(repository: Path, *words: str) -> tuple[int, str]:
    command = [linter(words[0]), *words[1:]]
    result = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout


def test_the_files_pass_the_linters(repository: Path) -> None:
    assert checked(repository, "actionlint") == (0, "")
    assert zizmor(repository, ".github/workflows") == NOTHING_FOUND
    assert checked(repository, "shellcheck", RUN_FILE) == (0, "")
    assert checked(repository, "hadolint", "--no-color", f"{FOLDER}/Dockerfile") == (0, "")


class Machine:
    """A machine with Docker, where the repository is checked out."""

    def __init__(self, repository: Path, folder: Path) -> None:
        self.repository = repository
        self.home = folder / "home"
        self.home.mkdir()
        self.stubs = FakeCommands(folder)
        self.stubs.add("docker")
        self.stubs.add("id", 'case "$1" in -un) echo runner;; *) echo 1001;; esac')

    def run(self, *arguments: str, **environment: str) -> Run:
        """Run the script from a folder of the repository, as a developer would."""
        script = f'cd "{self.repository / ".github"}" && exec /bin/bash gpu-tests/run_gpu_tests.sh "$@"'
        return self.stubs.run(["/bin/bash", "-c", script, "-", *arguments], {"HOME": str(self.home), **environment})

    @property
    def started(self) -> str:
        (call,) = (call for call in self.stubs.calls() if call.startswith("docker run"))
        return call


@pytest.fixture
def machine(repository: Path, tmp_path: Path) -> Machine:
    return Machine(repository, tmp_path)


def test_the_container_has_the_gpus_the_repository_and_the_caches_of_the_user(machine: Machine) -> None:
    run = machine.run()
    caches = machine.home / ".cache"

    assert run.code == 0, run.err
    assert machine.started == (
        f"docker run --rm --gpus all --user 1001:1001 --volume {machine.repository}:/workspace"
        f" --volume {caches}/uv:/caches/uv --env UV_CACHE_DIR=/caches/uv"
        f" --volume {caches}/huggingface:/caches/huggingface --env HF_HOME=/caches/huggingface"
        f" --volume {caches}/torch:/caches/torch --env TORCH_HOME=/caches/torch"
        f" --env EXPECTED_GPUS=1 {IMAGE} bash -euo pipefail -c uv sync --locked --all-extras"
    )
    assert sorted(path.name for path in caches.iterdir()) == ["huggingface", "torch", "uv"]


def test_arguments_are_passed_to_the_container_unchanged(machine: Machine) -> None:
    machine.stubs.add("docker", f'printf "<%s>" "$@" >"{machine.home}/words"')
    machine.run("uv", "run", "pytest", "-k", "cache and not slow", "")

    assert (machine.home / "words").read_text().endswith(f"<{IMAGE}><uv><run><pytest><-k><cache and not slow><>")


def test_variables_select_another_image_and_number_of_gpus(machine: Machine) -> None:
    machine.run(GPU_TEST_IMAGE="mine:1", EXPECTED_GPUS="2", XDG_CACHE_HOME=str(machine.home / "c"))

    assert "--env EXPECTED_GPUS=2 mine:1 bash -euo pipefail" in machine.started
    assert f"--volume {machine.home}/c/uv:/caches/uv" in machine.started


def test_a_user_without_access_to_docker_gets_an_error_with_the_fix(machine: Machine) -> None:
    machine.stubs.failing("docker", "version")
    run = machine.run()

    assert run.code == 3
    assert "runner cannot access Docker; add the user to the group docker" in run.err


def test_the_script_exits_with_the_exit_code_of_the_tests(machine: Machine) -> None:
    machine.stubs.add("docker", 'case "$1" in run) exit 5;; esac')

    assert machine.run().code == 5


def test_without_arguments_the_script_runs_the_commands_of_the_workflow(machine: Machine) -> None:
    """As GitHub runs it: the step's script in bash."""
    workflow = yaml.safe_load((machine.repository / TESTS_FILE).read_text())
    step = workflow["jobs"]["test"]["steps"][-1]
    machine.stubs.add("docker", f'printf "<%s>" "$@" >"{machine.home}/words"')
    run = machine.stubs.run(
        ["/bin/bash", "-c", f'cd "{machine.repository}"\n{step["run"]}'],
        {"HOME": str(machine.home)},
    )

    assert run.code == 0, run.err
    assert (
        (machine.home / "words")
        .read_text()
        .endswith(
            f"<{IMAGE}><bash><-euo><pipefail><-c><uv sync --locked --all-extras\n"
            "uv run pytest -m gpu --cov --cov-report=xml>"
        )
    )


def image_step(repository: Path, name: str) -> str:
    job = yaml.safe_load((repository / IMAGE_FILE).read_text())["jobs"]["build"]
    (found,) = (step["run"] for step in job["steps"] if step["name"] == name)
    return str(found)


@pytest.mark.parametrize(("there", "output"), [(True, "found=true\n"), (False, "")])
def test_the_workflow_detects_an_existing_tag(machine: Machine, there: bool, output: str) -> None:
    machine.stubs.add("docker", "exit 0" if there else "exit 1")
    file = machine.home / "output"
    file.touch()
    step = image_step(machine.repository, "Look for the image")
    run = machine.stubs.run(["/bin/bash", "-e", "-c", step], {"IMAGE": IMAGE, "GITHUB_OUTPUT": str(file)})

    assert (run.code, file.read_text()) == (0, output)
    assert ("::warning::" in run.out) is there
    assert machine.stubs.calls() == [f"docker manifest inspect {IMAGE}"]


@pytest.mark.parametrize(("answer", "code"), [('{"access_token": "t0k"}', 0), ("{}", 1)])
def test_docker_signs_in_to_the_registry_with_the_token_of_the_machine(
    machine: Machine, answer: str, code: int
) -> None:
    workflow = yaml.safe_load((machine.repository / TESTS_FILE).read_text())
    (step,) = (one for one in workflow["jobs"]["test"]["steps"] if one["name"] == "Configure Docker for the registry")
    machine.stubs.add("curl", f"echo '{answer}'")
    machine.stubs.add("docker", "cat >&2")
    (machine.stubs.path / "jq").symlink_to(linter("jq"))
    run = machine.stubs.run(["/bin/bash", "-eo", "pipefail", "-c", step["run"]], step["env"])

    assert run.code == code
    assert ("t0k" in run.err) is (code == 0)
    assert not any("t0k" in call for call in machine.stubs.calls())
