"""The scripts that a machine runs before and after each job."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_ci.back_ends.shared.machine.user_data import FORKS, HOOKS, hooks
from tests.artefacts.linters import linter
from tests.machine.boots import boot_args

T4 = "Tesla T4, 580.159.03, 15360 MiB"


def started(
    folder: Path, answer: str, *, code: int = 0, gpus: int = 1, forks: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the script before a job, with an nvidia-smi that answers like this; `forks` is the result of that script."""
    (folder / "bin").mkdir()
    smi = folder / "bin" / "nvidia-smi"
    smi.write_text(f"#!/bin/sh\nprintf '%s\\n' '{answer}'\nexit {code}\n")
    smi.chmod(0o755)
    if forks is not None:
        (folder / FORKS).write_text(f"exit {forks}\n")
    script = folder / "job-started.sh"
    text = hooks(replace(boot_args(), gpus=gpus))[f"{HOOKS}/job-started.sh"]
    script.write_text(text.replace(HOOKS, str(folder)))
    known = {"PATH": f"{folder}/bin:/usr/bin:/bin"}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script],
        env=known,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.pure
def test_a_job_starts_on_a_machine_whose_gpus_answer(tmp_path: Path) -> None:
    run = started(tmp_path, f"{T4}\n{T4}", gpus=2)

    assert (run.returncode, run.stdout) == (0, f"gpu-ci: {T4}\n{T4}\n")


@pytest.mark.pure
def test_a_damaged_inforom_does_not_prevent_a_job(tmp_path: Path) -> None:
    run = started(tmp_path, f"WARNING: infoROM is corrupted at gpu 0000:00:1E.0\n{T4}", code=14)

    assert (run.returncode, T4 in run.stdout) == (0, True)


@pytest.mark.pure
@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        ("Unable to determine the device handle", 9, "gpu-ci: the driver does not answer on this machine (code 9):\n"),
        ("Unable to determine the device handle", 14, "gpu-ci: this machine has 1 GPU(s), and the driver shows 0:\n"),
        ("No devices were found", 0, "gpu-ci: this machine has 1 GPU(s), and the driver shows 0:\n"),
        (f"{T4}\n{T4}", 0, "gpu-ci: this machine has 1 GPU(s), and the driver shows 2:\n"),
    ],
)
def test_no_job_starts_on_another_machine(tmp_path: Path, answer: str, code: int, words: str) -> None:
    run = started(tmp_path, answer, code=code)

    assert (run.returncode, run.stderr) == (1, f"{words}{answer}\n")


@pytest.mark.pure
@pytest.mark.parametrize(("forks", "code"), [(0, 0), (1, 1), (None, 0)])
def test_the_script_that_refuses_forks_decides_last(tmp_path: Path, forks: int | None, code: int) -> None:
    assert started(tmp_path, T4, forks=forks).returncode == code


@pytest.mark.artefacts
@pytest.mark.parametrize("name", ["job-started.sh", "job-completed.sh", FORKS])
def test_shellcheck_has_no_finding_in_a_script_of_the_machine(name: str, tmp_path: Path) -> None:
    script = tmp_path / name
    script.write_text(hooks(boot_args())[f"{HOOKS}/{name}"])
    found = subprocess.run([linter("shellcheck"), str(script)], capture_output=True, check=False, text=True)

    assert (found.returncode, found.stdout) == (0, "")
