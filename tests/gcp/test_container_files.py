"""Generated files for the container of a repository's tests: the linters check them, and the script runs with a fake Docker."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
import yaml

from gpu_ci.repository.gpu_workflow import TESTS_FILE
from gpu_ci.repository.image_workflow import IMAGE_FILE
from gpu_ci.repository.run_script import RUN_FILE
from gpu_ci.stack_file.identity import Identity
from ops.kit import stack as kit
from tests.artefacts.callers import Run
from tests.artefacts.fake_commands import FakeCommands
from tests.artefacts.linters import linter
from tests.stack_file import stacks

pytestmark = pytest.mark.artefacts

GCP: Final = "examples/cirun-gcp.yaml"
IMAGE: Final = "us-central1-docker.pkg.dev/gpu-test-runners/gpu-tests/gpu-tests:2026.11.1"


@pytest.fixture
def repository(open_path: Path) -> Path:
    """A repository with everything that the example's stack file writes."""
    root = open_path / "repository"
    for path, text in kit.files(stacks.settings(GCP), Identity(project="gpu-ci", stack="staging")).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


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
        return self.stubs.run_as_called(
            "gpu_ci/repository/templates/run_gpu_tests.sh.j2",
            self.repository / RUN_FILE,
            *arguments,
            folder=self.repository / ".github",
            environment={"HOME": str(self.home), **environment},
        )

    def step(self, path: str, job: str, name: str, **environment: str) -> Run:
        """Run a step of a workflow in the checkout."""
        found = yaml.safe_load((self.repository / path).read_text())["jobs"][job]
        (step,) = (one for one in found["steps"] if one["name"] == name)
        stated = {key: value for key, value in step.get("env", {}).items() if "${{" not in value}
        variables = {"HOME": str(self.home), **stated, **environment}
        return self.stubs.run_step("kit", step, found, folder=self.repository, environment=variables)

    @property
    def started(self) -> str:
        (call,) = (call for call in self.stubs.calls() if call.startswith("docker run"))
        return call


@pytest.fixture
def machine(repository: Path, open_path: Path) -> Machine:
    return Machine(repository, open_path)


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
    machine.stubs.add("docker", f'printf "<%s>" "$@" >"{machine.home}/words"')
    run = machine.step(TESTS_FILE, "test", "Test")

    assert run.code == 0, run.err
    assert (
        (machine.home / "words")
        .read_text()
        .endswith(
            f"<{IMAGE}><bash><-euo><pipefail><-c><uv sync --locked --all-extras\n"
            "uv run pytest -m gpu --cov --cov-report=xml>"
        )
    )


@pytest.mark.parametrize(("there", "output"), [(True, "found=true\n"), (False, "")])
def test_the_workflow_detects_an_existing_tag(machine: Machine, there: bool, output: str) -> None:
    machine.stubs.add("docker", "exit 0" if there else "exit 1")
    file = machine.home / "output"
    file.touch()
    run = machine.step(IMAGE_FILE, "build", "Look for the image", IMAGE=IMAGE, GITHUB_OUTPUT=str(file))

    assert (run.code, file.read_text()) == (0, output)
    assert ("::warning::" in run.out) is there
    assert machine.stubs.calls() == [f"docker manifest inspect {IMAGE}"]


@pytest.mark.parametrize(("answer", "code"), [('{"access_token": "t0k"}', 0), ("{}", 1)])
def test_docker_signs_in_to_the_registry_with_the_token_of_the_machine(
    machine: Machine, answer: str, code: int
) -> None:
    machine.stubs.add("curl", f"echo '{answer}'")
    machine.stubs.add("docker", "cat >&2")
    (machine.stubs.path / "jq").symlink_to(linter("jq"))
    run = machine.step(TESTS_FILE, "test", "Configure Docker for the registry")

    assert run.code == code
    assert ("t0k" in run.err) is (code == 0)
    assert not any("t0k" in call for call in machine.stubs.calls())
