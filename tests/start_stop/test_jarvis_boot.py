"""The startup script of an instance of Jarvis Labs, with fake commands."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from gpu_ci.back_ends.start_stop.gpu_instance.jarvis import Wanted, script_text
from gpu_ci.knowledge.software.runner_releases import CHECKSUMS, NEWEST
from tests.artefacts.fake_commands import FakeCommands
from tests.artefacts.linters import linter

pytestmark = pytest.mark.artefacts

ARCHIVE: Final = b"the archive of the runner"
BOOT: Final = "gpu_ci/back_ends/start_stop/gpu_instance/jarvis_boot.sh"
CONFIG: Final = "eyJzaW5nbGUiOiAidXNlIn0="
REAL: Final = ("date", "flock", "sha256sum")
RUN: Final = 'printf "config %s\\nhome %s\\ntoken %s\\n" "$ACTIONS_RUNNER_INPUT_JITCONFIG" "$HOME" "${JUPYTER_TOKEN:-}"'


def text(sha256: str = hashlib.sha256(ARCHIVE).hexdigest()) -> str:
    """Return the script with its values."""
    wanted = Wanted(
        cloud="jarvis",
        name="ci gpu",
        gpu="L4",
        gpus=1,
        storage=100,
        template="pytorch",
        region=None,
        script="gpu-ci x",
        runner_version=NEWEST,
        runner_sha256=sha256,
        owner="repos/example-org/vision",
        runner="x",
        labels=("x",),
        workflow="tests.yml",
        job="start",
        max_hours=4,
    )
    return script_text(wanted, CONFIG)


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A container with a home folder that a pause keeps."""

    commands: FakeCommands
    base: Path

    def start(self, script: str | None = None) -> tuple[int, str]:
        """Start it, and wait until the runner has ended; return the exit code and the output."""
        environment = {"GPU_CI_BASE": str(self.base), "JUPYTER_TOKEN": "secret of the platform"}
        ended = self.commands.run_as_called(BOOT, script or text(), environment=environment)
        return ended.code, ended.out + ended.err

    def log(self) -> str:
        """Return the log once the runner has ended."""
        log = self.base / "gpu-ci" / "runner.log"
        for _ in range(100):
            if log.exists() and "has ended" in log.read_text():
                return log.read_text()
            time.sleep(0.05)
        return log.read_text() if log.exists() else ""


@pytest.fixture
def container(tmp_path: Path) -> Container:
    commands = FakeCommands(tmp_path)
    for name in REAL:
        (commands.path / name).symlink_to(linter(name))
    commands.add("nvidia-smi", 'echo "NVIDIA L4, 580.159.04, 23034 MiB"')
    commands.add("ldconfig", "echo libicuuc.so.74")
    for name in ("git", "chown", "useradd", "usermod", "pkill", "apt-get", "sleep"):
        commands.add(name)
    commands.add("getent", "exit 0")
    commands.add("id", "exit 1")
    commands.add("install", 'for one in "$@"; do case $one in /*) mkdir -p "$one";; esac; done')
    commands.add("curl", f'while [ "$1" != --output ]; do shift; done; printf "%s" "{ARCHIVE.decode()}" >"$2"')
    commands.add("tar", f"printf '%s\\n' '#!/bin/bash' '{RUN}' >\"$6/run.sh\"; chmod +x \"$6/run.sh\"")
    commands.add("runuser", 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"')
    return Container(commands=commands, base=tmp_path / "home")


def test_the_script_has_no_finding_of_shellcheck() -> None:
    command = [linter("shellcheck"), "--severity=style", "-"]
    ended = subprocess.run(command, input=text(), capture_output=True, check=False, text=True)

    assert (ended.returncode, ended.stdout) == (0, "")


def test_the_values_are_valid_for_the_newest_runner() -> None:
    lines = text(CHECKSUMS[NEWEST]).splitlines()

    assert lines[0] == "#!/usr/bin/env bash"
    assert lines[1:4] == [
        f"RUNNER_CONFIG={CONFIG}",
        f"RUNNER_VERSION={NEWEST}",
        f"RUNNER_SHA256={CHECKSUMS[NEWEST]}",
    ]


def test_the_first_start_installs_the_runner_and_starts_it_without_the_platform_s_secrets(container: Container) -> None:
    assert container.start()[0] == 0
    log = container.log()
    assert f"config {CONFIG}" in log
    assert f"home {container.base}/runner" in log
    assert "secret of the platform" not in log
    assert "the runner has ended with 0" in log
    calls = container.commands.calls()
    assert any(one.startswith("runuser --user runner -- ./run.sh") for one in calls)
    assert "usermod --append --groups video runner" in calls
    assert not [one for one in calls if "sudo" in one or "777" in one]


def test_the_registration_is_in_no_argument(container: Container) -> None:
    assert container.start()[0] == 0
    container.log()

    assert not [one for one in container.commands.calls() if CONFIG in one]


def test_a_resume_restores_the_user_and_does_not_download_again(container: Container) -> None:
    assert container.start()[0] == 0
    container.log()
    left = container.base / "runner" / "left-by-a-job"
    left.write_text("x")
    container.commands.log.write_text("")
    (container.base / "gpu-ci" / "runner.log").unlink()

    assert container.start()[0] == 0
    assert "the runner has ended with 0" in container.log()
    calls = container.commands.calls()
    assert not [one for one in calls if one.startswith("curl")]
    assert [one for one in calls if one.startswith("useradd --user-group")]
    assert not left.exists()


def test_a_changed_archive_is_downloaded_again(container: Container) -> None:
    store = container.base / "gpu-ci"
    store.mkdir(parents=True)
    (store / f"actions-runner-linux-x64-{NEWEST}.tar.gz").write_bytes(b"changed by a job")

    assert container.start()[0] == 0
    assert "the runner has ended with 0" in container.log()
    assert [one for one in container.commands.calls() if one.startswith("curl")]


def test_an_archive_with_another_checksum_is_not_unpacked(container: Container) -> None:
    code, output = container.start(text("0" * 64))

    assert code == 1
    assert "has another checksum than the stack file states" in output
    assert not [one for one in container.commands.calls() if one.startswith(("tar", "runuser"))]
    assert list((container.base / "gpu-ci").glob("*.tar.gz")) == []


@pytest.mark.parametrize(
    ("command", "body", "words"),
    [
        ("nvidia-smi", "exit 9", "nvidia-smi finds no GPU, so no runner starts"),
        ("nvidia-smi", "echo No devices were found", "nvidia-smi finds no GPU, so no runner starts"),
        ("curl", "exit 6", f"runner {NEWEST} cannot be downloaded from https://github.com/actions/runner"),
    ],
)
def test_a_failed_step_starts_no_runner(container: Container, command: str, body: str, words: str) -> None:
    container.commands.add(command, body)
    code, output = container.start()

    assert code == 1
    assert words in output
    assert not [one for one in container.commands.calls() if one.startswith("runuser")]


def test_missing_packages_are_installed_after_three_attempts_at_most(container: Container) -> None:
    container.commands.add("ldconfig")
    container.commands.add("apt-get", "case $1 in update) exit 100;; esac")
    code, output = container.start()

    assert code == 1
    assert "packages cannot be installed" in output
    assert container.commands.calls().count("apt-get update -q") == 3


def test_a_missing_library_is_installed(container: Container) -> None:
    container.commands.add("ldconfig")

    assert container.start()[0] == 0
    container.log()
    assert "apt-get install -q -y --no-install-recommends libicu-dev" in container.commands.calls()


def test_a_full_disk_starts_no_runner(container: Container) -> None:
    container.commands.add("tar", "echo 'No space left on device' >&2; exit 2")
    code, output = container.start()

    assert code == 2
    assert "No space left on device" in output
    assert not [one for one in container.commands.calls() if one.startswith("runuser")]


def test_a_second_start_while_the_runner_runs_does_nothing(container: Container) -> None:
    store = container.base / "gpu-ci"
    store.mkdir(parents=True)
    flock = shutil.which("flock")
    assert flock
    with (store / "lock").open("w") as lock:
        subprocess.run([flock, "--nonblock", str(lock.fileno())], check=True, pass_fds=(lock.fileno(),))
        code, output = container.start()

    assert (code, "the runner is already running" in output) == (0, True)
    assert not os.path.lexists(container.base / "runner")


def test_a_process_that_a_job_leaves_does_not_keep_the_lock(container: Container) -> None:
    container.commands.add("runuser", '("$(dirname "$0")/cat" </dev/tty0 || /bin/sleep 5) >/dev/null 2>&1 & exit 0')
    assert container.start()[0] == 0
    container.log()

    code, output = container.start()
    assert (code, "already running" in output) == (0, False)
