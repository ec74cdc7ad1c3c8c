"""The steps of the workflows: what they run, with fake commands, and what they refuse."""

from __future__ import annotations

import hashlib
import http.server
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from gpu_ci.repository.actions import UV
from ops.cli.options import ROOT
from tests.artefacts.callers import Run, run_step
from tests.kit.options import files
from tests.stack_file import stacks

pytestmark = pytest.mark.artefacts

TESTS: Final = ".github/workflows/gpu-tests.yml"
T4: Final = "Tesla T4, 580.95.05, 15360 MiB"


def job(entry: Mapping[str, Any], stack: str = stacks.AWS, path: str = TESTS) -> Any:
    written = files(stack, entry)
    assert written is not None
    return yaml.safe_load(written[path])["jobs"]["test"]


def step(found: Any, name: str) -> Any:
    return next(one for one in found["steps"] if one["name"] == name)


class Machine:
    """A machine with fake commands, which note their arguments."""

    def __init__(self, folder: Path, **commands: str) -> None:
        self.folder, self.bin = folder, folder / "bin"
        self.bin.mkdir()
        for name, body in commands.items():
            file = self.bin / name.replace("_", "-")
            file.write_text(f'#!/bin/sh\necho "{name} $*" >>"{folder}/asked"\n{body}\n')
            file.chmod(0o755)

    def runs(self, found: Any, name: str, **variables: str) -> Run:
        """Run a step of a job."""
        one = step(found, name)
        environment = {"PATH": f"{self.bin}:{os.environ['PATH']}", "HOME": str(self.folder), **variables}
        environment |= {name: str(value) for name, value in one.get("env", {}).items()}
        return run_step("kit", one, found, world=self.folder, environment=environment)

    @property
    def asked(self) -> list[str]:
        return (self.folder / "asked").read_text().splitlines()


@pytest.mark.parametrize(
    ("answer", "code", "message"),
    [
        (f"echo '{T4}'", 0, "Tesla T4"),
        (f"echo '{T4}'; echo '{T4}'", 1, "needs 1 GPU(s), but the machine has 2"),
        ("echo 'NVIDIA L4, 580.95.05, 23034 MiB'", 1, "needs a GPU of the model T4"),
        ("echo 'NVIDIA T400, 580.95.05, 4096 MiB'", 1, "needs a GPU of the model T4"),
    ],
)
def test_the_first_step_checks_the_number_and_the_model_of_the_gpu(
    tmp_path: Path, answer: str, code: int, message: str
) -> None:
    found = job({})
    ended = Machine(tmp_path, nvidia_smi=answer).runs(found, "Check the GPU")

    assert found["steps"][0]["name"] == "Check the GPU"
    assert (ended.code, message in ended.out) == (code, True)


def test_ccache_is_limited_and_its_statistics_begin_at_zero(tmp_path: Path) -> None:
    found = job({"cache": "actions", "ccache": True})
    machine = Machine(tmp_path, ccache='[ -n "$CCACHE_DIR" ] && echo "$CCACHE_DIR" >>"$HOME/folders"; true')
    ended = machine.runs(found, "Start ccache", GITHUB_ENV=str(tmp_path / "env"))

    assert ended.code == 0, ended.err
    assert machine.asked == ["ccache --max-size 10G", "ccache --zero-stats"]
    assert (tmp_path / "env").read_text() == f"CCACHE_DIR={tmp_path}/.cache/ccache\n"
    assert {*(tmp_path / "folders").read_text().splitlines()} == {f"{tmp_path}/.cache/ccache"}
    assert (found["env"]["CC"], found["env"]["CXX"]) == ("ccache gcc", "ccache g++")
    assert (step(found, "Show the use of ccache")["run"], step(found, "Show the use of ccache")["if"]) == (
        "ccache --show-stats", "always()",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("stack", "bucket", "command", "words"),
    [
        (stacks.AWS, "s3://a-bucket/gpu", "aws", "s3 sync --only-show-errors"),
        ("examples/vm-gcp.yaml", "gs://a-bucket", "gcloud", "storage rsync --recursive"),
    ],
)
@pytest.mark.parametrize("works", [True, False])
def test_a_bucket_is_copied_before_and_after_and_a_failure_only_warns(
    tmp_path: Path, stack: str, bucket: str, command: str, words: str, works: bool
) -> None:
    found = job({"cache": bucket}, stack)
    machine = Machine(tmp_path, **{command: "" if works else "exit 1"})
    before, after = machine.runs(found, "Restore the caches"), machine.runs(found, "Save the caches")
    uv = f"{tmp_path}/.cache/uv"

    assert (before.code, after.code) == (0, 0)
    assert machine.asked[0] == f"{command} {words} {bucket}/uv {uv}"
    assert machine.asked[5] == f"{command} {words} {uv} {bucket}/uv"
    assert len(machine.asked) == 10
    assert ("::warning::The cache uv could not be restored." in before.out) is not works
    assert step(found, "Save the caches")["if"] == "github.event_name != 'pull_request'"


@pytest.mark.parametrize(("changed", "there"), [(False, False), (True, False), (False, True)])
def test_uv_is_installed_with_its_checksum_where_the_machine_has_none(
    tmp_path: Path, changed: bool, there: bool
) -> None:
    served = tmp_path / "served"
    served.mkdir()
    with zipfile.ZipFile(served / "uv.whl", "w") as wheel:
        for name in ("uv", "uvx"):
            wheel.writestr(f"uv-{UV}.data/scripts/{name}", f"#!/bin/sh\necho {name} {UV}\n")
    known = hashlib.sha256((served / "uv.whl").read_bytes()).hexdigest()
    if changed:
        (served / "uv.whl").write_bytes(b"another")
    found = job({}, "examples/vm-aws.yaml")
    env = step(found, "Set up uv")["env"]
    assert (env["SHA256"] in (ROOT / "ami/gce-gpu-host/options.sh").read_text()) is True
    machine = Machine(tmp_path, **({"uv": f"echo uv {UV}"} if there else {"uv": "exit 127"}))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Served, directory=str(served))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        (served / "json").write_text(f'{{"urls": [{{"url": "{address}/uv.whl", "digests": {{"sha256": "{known}"}}}}]}}')
        env |= {"PACKAGE": f"{address}/json", "SHA256": known}
        files = {name: str(tmp_path / name) for name in ("GITHUB_ENV", "GITHUB_PATH")}
        ended = machine.runs(found, "Set up uv", RUNNER_TEMP=str(tmp_path), **files)
        server.shutdown()

    assert (ended.code, "does not have the checksum" in ended.err) == (int(changed), changed)
    assert (tmp_path / "uv" / "uv").exists() is not (changed or there)
    if not changed and not there:
        ran = subprocess.run([tmp_path / "uv" / "uv"], capture_output=True, check=True, text=True)
        assert (ran.stdout, (tmp_path / "GITHUB_PATH").read_text()) == (f"uv {UV}\n", f"{tmp_path}/uv\n")
    assert changed or (tmp_path / "GITHUB_ENV").read_text() == "UV_PYTHON=3.12\n"


class Served(http.server.SimpleHTTPRequestHandler):
    """The files of a folder, without a log."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of its base class
        """Print nothing."""


def test_a_folder_is_the_place_of_every_cache() -> None:
    found = job({"cache": "/mnt/cache", "ccache": True})["env"]

    assert (found["XDG_CACHE_HOME"], found["CONDA_PKGS_DIRS"]) == ("/mnt/cache", "/mnt/cache/micromamba")


def test_the_cache_of_github_depends_on_the_locked_packages() -> None:
    plain = step(job({"cache": "actions"}), "Restore and save the caches")["with"]
    compiled = step(job({"cache": "actions", "ccache": True}), "Restore and save the caches")["with"]

    assert plain["path"].split() == [f"~/.cache/{name}" for name in ("uv", "pip", "huggingface", "torch", "ccache")]
    assert "'.github/gpu-tests/environment.yml'" in plain["key"]
    assert "hashFiles('uv.lock', 'pyproject.toml'" in plain["key"]
    assert compiled["key"].endswith("-${{ strategy.job-index }}-${{ github.run_id }}")


def test_each_job_of_a_matrix_has_its_own_machine() -> None:
    found = job({"matrix": {"torch": ["2.9.1", "2.10.0"]}})

    assert found["runs-on"].endswith("-${{ github.run_attempt }}-${{ strategy.job-index }}")
    assert found["strategy"] == {"fail-fast": False, "matrix": {"torch": ["2.9.1", "2.10.0"]}}
    assert found["env"]["TORCH"] == "${{ matrix.torch }}"


def test_pip_installs_into_an_environment_of_the_job(tmp_path: Path) -> None:
    found = job({"tool": "pip"})
    made = Machine(tmp_path, python=f'exec "{sys.executable}" "$@" --without-pip')
    folders = {"RUNNER_TEMP": str(tmp_path), "GITHUB_PATH": str(tmp_path / "path")}
    ended = made.runs(found, "Create an environment for this job", **folders)

    assert ended.code == 0, ended.err
    assert (tmp_path / "path").read_text() == f"{tmp_path}/environment/bin\n"
    assert (tmp_path / "environment" / "bin" / "python").exists()
    assert step(found, "Install")["run"] == 'python -m pip install ".[dev,test,gpu]"\n'


def test_micromamba_runs_every_command_in_its_environment() -> None:
    found = job({"tool": "micromamba"})

    assert found["defaults"]["run"]["shell"] == "bash -leo pipefail {0}"
    assert step(found, "Set up micromamba")["with"]["post-cleanup"] == "all"
    assert step(found, "Check the GPU")["shell"] == "bash"


def test_the_reusable_workflow_replaces_the_marker_also_in_a_container() -> None:
    called = job({"reusable": True}, path=".github/workflows/_gpu.yml")
    container = files(stacks.GCP, {"reusable": True}) or {}
    in_container = yaml.safe_load(container[".github/workflows/_gpu.yml"])

    assert called["env"]["MARKER"] == "${{ inputs.marker }}"
    assert step(called, "Test")["run"] == 'uv run pytest -m "${MARKER:-gpu}" --cov --cov-report=xml\n'
    assert step(called, "Keep the coverage")["with"]["if-no-files-found"] == "error"
    assert called["permissions"] == {"contents": "read"}
    assert in_container["jobs"]["test"]["env"]["GPU_TEST_IMAGE"] == "${{ inputs.image }}"
    assert "  --env MARKER \\\n" in container[".github/gpu-tests/run_gpu_tests.sh"]


IMAGE: Final = f"ghcr.io/example-org/tests@sha256:{'a' * 64}"


@pytest.mark.parametrize(
    ("entry", "stack", "container"),
    [
        ({"runner": "gpu-light"}, "examples/eks-arc.yaml", None),
        ({"runner": "gpu-l4", "container": IMAGE}, "examples/eks-arc.yaml", {"image": IMAGE}),
        ({"container": IMAGE}, stacks.AWS, {"image": IMAGE, "options": "--gpus all"}),
        ({"container": IMAGE}, stacks.GCP, {"image": IMAGE, "options": "--gpus all"}),
    ],
)
def test_a_container_on_a_machine_gets_its_gpus(entry: Mapping[str, Any], stack: str, container: Any) -> None:
    assert job(entry, stack).get("container") == container


def test_a_runner_that_needs_a_container_gets_its_own_image() -> None:
    found = job({"runner": "gpu-l4"}, "examples/eks-arc.yaml")["container"]

    assert found["image"].startswith("ghcr.io/example-org/actions-runner-cuda")


def test_paths_filter_the_workflow_and_the_tests_without_a_gpu_always_run() -> None:
    written = files("examples/vm-aws.yaml", {"paths": ["apps/training/**", "Makefile"], "cpu": ["make test"]}) or {}
    document = yaml.load(written[TESTS], Loader=yaml.BaseLoader)  # noqa: S506 - keeps `on` a word

    assert (
        document["on"]["push"]["paths"] == document["on"]["pull_request"]["paths"] == ["apps/training/**", "Makefile"]
    )
    assert (list(document["jobs"]), "workflow_dispatch" in document["on"]) == (["test", "cpu"], True)
    assert document["jobs"]["test"]["if"].startswith("vars.ENABLE_GPU_SMOKE == 'true' &&")
    assert "if" not in document["jobs"]["cpu"]
    assert (document["jobs"]["cpu"]["runs-on"], document["jobs"]["cpu"]["timeout-minutes"]) == ("ubuntu-24.04", "30")


TORCH: Final = """
class _Tensor(list):
    def to(self, device):
        return type(self)(value + (ERROR if device == "cpu" and ERROR else 0) for value in self)
    def __matmul__(self, other):
        return type(self)(a * b for a, b in zip(self, other))
class _Cuda:
    is_available = staticmethod(lambda: COUNT > 0)
    device_count = staticmethod(lambda: COUNT)
    get_device_capability = staticmethod(lambda device: (7, 5))
    get_device_name = staticmethod(lambda device: NAME)
class _Flags:
    pass
cuda, backends, version = _Cuda(), _Flags(), _Flags()
backends.cuda, version.cuda, float32, __version__ = _Flags(), "12.6", None, "2.14.1"
backends.cuda.matmul = _Flags()
arange = lambda n, dtype: _Tensor(range(10))
rand = lambda *size: _Tensor([0.5, 0.25])
equal = lambda a, b: list(a) == list(b)
allclose = lambda a, b, rtol, atol: all(abs(x - y) < 0.01 for x, y in zip(a, b))
"""


@pytest.mark.parametrize(
    ("count", "name", "wrong", "failed"),
    [
        (1, "Tesla T4", 0, 0),
        (0, "Tesla T4", 0, 1),
        (2, "Tesla T4", 0, 1),
        (1, "NVIDIA L4", 0, 1),
        (1, "Tesla T4", 1, 2),
    ],
)
def test_the_smoke_test_fails_without_the_gpu_and_never_skips(
    tmp_path: Path, count: int, name: str, wrong: float, failed: int
) -> None:
    written = files(stacks.AWS, {"smoke-test": True}) or {}
    (tmp_path / "torch.py").write_text(f"COUNT, NAME, ERROR = {count}, {name!r}, {wrong}\n{TORCH}")
    (tmp_path / "test_gpu_smoke.py").write_text(written["tests/test_gpu_smoke.py"])
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = gpu\n")
    command = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "-p", "no:cacheprovider", "--strict-markers"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    summary = ended.stdout.splitlines()[-1]

    assert summary.startswith(f"{failed} failed, {4 - failed} passed" if failed else "4 passed"), ended.stdout
    assert "skipped" not in summary
