"""The container of GPU tests: its Dockerfile, its command, and the smoke test that runs in it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from gpu_ci.knowledge.software.compatibility import Query, findings
from tests.artefacts.fake_commands import FakeCommands, Run

pytestmark = pytest.mark.artefacts

FOLDER = Path(__file__).parents[2] / "docker" / "gpu-tests"
DOCKERFILE = (FOLDER / "Dockerfile").read_text()
T4 = "Tesla T4, 580.173.02, 15360, 7.5"


def test_the_default_base_image_has_no_finding() -> None:
    (base,) = re.findall(r"^ARG CUDA_IMAGE=(\S+)$", DOCKERFILE, re.MULTILINE)

    assert findings(Query(image=base, driver="580")) == ()


def test_the_lock_contains_every_requirement_and_a_hash_for_each_package() -> None:
    lock = (FOLDER / "requirements.txt").read_text()
    entries = re.findall(r"^(\S+==\S+) \\\n    --hash=sha256:", lock, re.MULTILINE)

    assert set((FOLDER / "requirements.in").read_text().split()) <= set(entries)
    assert len(entries) == len(re.findall(r"^\w", lock, re.MULTILINE))


class Container:
    """The content of the container, with fakes of the GPU, uv and the interpreter of the smoke test."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.stubs = FakeCommands(folder)
        self.gpu(f"echo '{T4}'")
        self.stubs.add("uv")
        self.stubs.add("pytest-of-the-image")
        self.command = folder / "run-gpu-tests"
        text = (FOLDER / "run-gpu-tests").read_text()
        assert "/opt/gpu-tests/bin/python -m pytest" in text
        self.command.write_text(text.replace("/opt/gpu-tests/bin/python -m pytest", "pytest-of-the-image"))

    def gpu(self, body: str) -> None:
        self.stubs.add("nvidia-smi", body)

    def smoke(self, *, project: str = "", **environment: str) -> Run:
        marked = "project" if project else "not project"
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", str(FOLDER / "tests/pytest.ini")]
        return self.stubs.run(
            [*command, "-m", marked, str(FOLDER / "tests")],
            {"PROJECT_PYTHON": project, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        )

    def run(self, *arguments: str, **environment: str) -> Run:
        return self.stubs.run_as_called(
            "docker/gpu-tests/run-gpu-tests", self.command, *arguments, folder=self.workspace, environment=environment
        )

    def calls(self) -> list[str]:
        return [" ".join(call.split()) for call in self.stubs.calls()]


@pytest.fixture
def container(open_path: Path) -> Container:
    return Container(open_path)


def test_a_working_gpu_passes_the_smoke_test(container: Container) -> None:
    run = container.smoke(EXPECTED_GPU_NAME="Tesla T4")

    assert run.code == 0, run.out
    assert "3 passed, 1 deselected" in run.out


@pytest.mark.parametrize(
    ("body", "environment"),
    [
        ("exit 9", {}),
        ("true", {}),
        (f"echo '{T4}'; echo '{T4}'", {}),
        (f"echo '{T4}'", {"EXPECTED_GPUS": "2"}),
        (f"echo '{T4}'", {"EXPECTED_GPU_NAME": "NVIDIA L4"}),
        ("echo 'Tesla K80, 470.1, 11441, 3.7'", {}),
        (f"echo '{T4}'", {"MINIMUM_COMPUTE": "8.0"}),
        ("echo 'Tesla T4, 580.1, 0, 7.5'", {}),
    ],
)
def test_a_missing_or_different_gpu_fails_and_never_skips(
    container: Container, body: str, environment: dict[str, str]
) -> None:
    container.gpu(body)
    run = container.smoke(**environment)

    assert run.code == 1, run.out
    assert "skipped" not in run.out


def a_python(container: Container, body: str) -> str:
    container.stubs.add("project-python", body)
    return str(container.stubs.path / "project-python")


@pytest.mark.parametrize(
    ("body", "environment", "outcome"),
    [
        ("echo '[1, 134217728.0]'", {}, "1 passed"),
        ("echo '[2, 134217728.0]'", {}, "1 failed"),
        ("echo '[1, 0.0]'", {}, "1 failed"),
        ("echo no CUDA >&2; exit 1", {}, "1 failed"),
        ("echo null", {}, "1 skipped"),
        ("echo null", {"REQUIRE_TORCH": "1"}, "1 failed"),
    ],
)
def test_torch_must_compute_on_every_gpu_where_a_project_has_it(
    container: Container, body: str, environment: dict[str, str], outcome: str
) -> None:
    run = container.smoke(project=a_python(container, body), **environment)

    assert outcome in run.out


def test_without_a_command_the_project_is_installed_from_its_lock_and_tested(
    container: Container, tmp_path: Path
) -> None:
    (container.workspace / "uv.lock").touch()
    run = container.run(HOME=str(tmp_path))

    assert run.code == 0, run.err
    assert [call.split(" /opt")[0] for call in container.calls()] == [
        "pytest-of-the-image --quiet -p no:cacheprovider --rootdir",
        "uv sync --locked --all-extras",
        "pytest-of-the-image --quiet -p no:cacheprovider --rootdir",
        "uv run --no-sync pytest -m gpu",
    ]
    assert container.calls()[0].endswith("-m not project")
    assert container.calls()[2].endswith("-m project")


@pytest.mark.parametrize(
    ("smoke", "words", "code", "calls", "message"),
    [
        ("", ("uv", "run", "pytest", "-k", "two words"), 0, ["uv run pytest -k two words"], ""),
        ("exit 1", ("uv", "run", "pytest"), 1, [], ""),
        ("", (), 2, [], "mount the repository at /workspace"),
    ],
)
def test_the_smoke_test_comes_before_a_command(
    container: Container, smoke: str, words: tuple[str, ...], code: int, calls: list[str], message: str
) -> None:
    container.stubs.add("pytest-of-the-image", smoke)
    run = container.run(*words)

    assert (run.code, container.calls()[1:], message in run.err) == (code, calls, True)


def test_a_user_without_a_home_folder_gets_a_temporary_home_folder(container: Container) -> None:
    container.stubs.add("where", 'echo "$HOME $UV_PROJECT_ENVIRONMENT"')
    home, environment = container.run("where", HOME="/nowhere").out.split()

    assert Path(home).is_dir()
    assert environment == f"{home}/environment"


def test_the_readme_names_every_variable() -> None:
    smoke = (FOLDER / "tests" / "test_gpu_smoke.py").read_text()
    names = set(re.findall(r'environ\.get\("(\w+)"', smoke))

    assert {name for name in names if f"`{name}`" not in (FOLDER / "README.md").read_text()} == set()
