"""The scripts around every job, run as a runner runs them, with a fake nvidia-smi."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.kubernetes.arc.hooks import ENVIRONMENT, MOUNT, SCRIPTS
from tests.artefacts.callers import CALLERS, Run
from tests.artefacts.fake_commands import FakeCommands

pytestmark = pytest.mark.artefacts

T4 = "Tesla T4, 580.159.03, 15360 MiB"
HOOK, HOOKS = "a hook of the runner", "components/kubernetes/arc/hooks"


def script(name: str, folder: Path) -> str:
    """A script whose GPU is in that folder, so that it ends no process on the machine of the test."""
    return SCRIPTS[name].replace("/dev/nvidia", f"{folder}/nvidia")


class Runner:
    """A runner's container: its hooks, and its commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.device = folder / "nvidia0"
        self.device.touch()
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.stubs = FakeCommands(folder)
        (self.stubs.path / "id").symlink_to(shutil.which("id") or "")

    def gpus(self, *lines: str, code: int = 0) -> None:
        """Set the output and the exit code of nvidia-smi."""
        printed = " ".join(f"'{line}'" for line in lines)
        self.stubs.add("nvidia-smi", f"[ $# -eq 0 ] || printf '%s\\n' {printed}\nexit {code}")

    def run(self, name: str, gpus: int | None, at_least: int | None = None) -> Run:
        """Run a hook where the pod says that there are so many GPUs, or at least so many of them."""
        variables = {} if gpus is None else {"GPU_CI_GPUS": str(gpus)}
        if at_least is not None:
            variables["GPU_CI_GPUS_AT_LEAST"] = str(at_least)
        environment = {"TMPDIR": str(self.temporary), **variables}
        return self.stubs.run_as_called(
            f"{HOOKS}/{name}", script(name, self.folder), caller=HOOK, environment=environment
        )


@pytest.fixture
def runner(open_path: Path) -> Runner:
    return Runner(open_path)


@pytest.fixture
def leftover(runner: Runner) -> Iterator[subprocess.Popen[bytes]]:
    """A process that a job left, which holds the GPU. It belongs to the user of the job."""
    with runner.device.open() as device:
        process = subprocess.Popen(["sleep", "300"], stdin=device, **CALLERS[HOOK].identity)
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process of the runner's own, which holds none."""
    process = subprocess.Popen(["sleep", "300"], stdin=subprocess.DEVNULL, **CALLERS[HOOK].identity)
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize("count", [1, 4])
def test_a_job_starts_if_its_gpus_respond(runner: Runner, count: int) -> None:
    runner.gpus(*[T4] * count)
    ended = runner.run("job-started.sh", count)

    assert (ended.code, ended.err) == (0, "")
    assert ended.out == "gpu-ci: " + "\n".join([T4] * count) + "\n"


def test_a_job_does_not_start_with_fewer_gpus_than_it_requests(runner: Runner) -> None:
    runner.gpus(T4)
    ended = runner.run("job-started.sh", 2)

    assert ended.code == 1
    assert ended.err == f"gpu-ci: this job asks for 2 GPU(s) and sees 1:\n{T4}\n"


@pytest.mark.parametrize(("seen", "code"), [(0, 1), (1, 0), (2, 0), (3, 1)])
def test_several_shares_may_belong_to_one_gpu(runner: Runner, seen: int, code: int) -> None:
    runner.gpus(*[T4] * seen or ["No devices were found"])

    assert runner.run("job-started.sh", 2, at_least=1).code == code


@pytest.mark.parametrize("gpus", [0, None])
@pytest.mark.parametrize("name", SCRIPTS)
def test_nvidia_smi_is_not_called_in_a_container_without_a_gpu(runner: Runner, name: str, gpus: int | None) -> None:
    runner.gpus(code=9)

    assert runner.run(name, gpus).code == 0
    assert runner.stubs.calls() == []


def test_a_leftover_process_on_the_gpu_is_terminated_and_reported(
    runner: Runner, leftover: subprocess.Popen[bytes], bystander: subprocess.Popen[bytes]
) -> None:
    ended = runner.run("job-completed.sh", 1)

    assert ended.code == 0
    assert ended.out == f"gpu-ci: ending process {leftover.pid} (sleep), which the job left on the GPU\n"
    assert leftover.wait(timeout=120) == -signal.SIGTERM
    assert bystander.poll() is None


def test_a_job_without_leftovers_prints_nothing(runner: Runner, bystander: subprocess.Popen[bytes]) -> None:
    ended = runner.run("job-completed.sh", 1)

    assert (ended.code, ended.out, ended.err) == (0, "", "")
    assert bystander.poll() is None


def test_process_ids_reported_by_the_driver_are_not_used(runner: Runner, bystander: subprocess.Popen[bytes]) -> None:
    """They are process ids of the host: in a container they belong to no process or to another one."""
    runner.gpus(f"{bystander.pid}, 1024")

    assert runner.run("job-completed.sh", 1).code == 0
    assert bystander.poll() is None


def test_large_leftover_files_are_deleted_and_small_files_stay(runner: Runner) -> None:
    (runner.temporary / "deep").mkdir()
    for name, size in (("deep/model.bin", 101 * 2**20), ("log.txt", 2**20)):
        with (runner.temporary / name).open("wb") as file:
            file.truncate(size)

    assert runner.run("job-completed.sh", 1).code == 0
    assert [path.name for path in runner.temporary.rglob("*") if path.is_file()] == ["log.txt"]


@pytest.mark.parametrize("mode", [0o000, 0o744])
def test_an_unreadable_folder_does_not_fail_the_job(runner: Runner, mode: int) -> None:
    """It is closed for its owner, so that the run is the same for root and for others."""
    closed = runner.temporary / "closed"
    closed.mkdir()
    (closed / "file").touch()
    closed.chmod(mode & 0o644)
    ended = runner.run("job-completed.sh", 1)
    closed.chmod(0o700)

    assert (ended.code, ended.err) == (0, "")


def test_a_deleted_temporary_folder_does_not_fail_the_job(runner: Runner) -> None:
    runner.temporary.rmdir()
    ended = runner.run("job-completed.sh", 1)

    assert (ended.code, ended.err) == (0, "")


def test_a_file_that_is_deleted_during_the_search_does_not_fail_the_job(runner: Runner) -> None:
    """A find that ends as it does then: badly, and with a word about the file."""
    runner.stubs.add("find", "echo 'find: missing: No such file or directory' >&2\nexit 1")
    ended = runner.run("job-completed.sh", 1)

    assert (ended.code, ended.err) == (0, "")


def test_the_runner_gets_absolute_paths_of_both_hooks() -> None:
    assert {
        "ACTIONS_RUNNER_HOOK_JOB_STARTED": f"{MOUNT}/job-started.sh",
        "ACTIONS_RUNNER_HOOK_JOB_COMPLETED": f"{MOUNT}/job-completed.sh",
    } == ENVIRONMENT
    assert Path(MOUNT).is_absolute()
