"""Every program that asks nvidia-smi for the GPUs of a job follows one rule, as its real caller runs it.

Exit codes and texts: nvidia-smi(1), "RETURN VALUE" (driver 580): 14 is a corrupted infoROM, which is a warning.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from components.kubernetes.arc.hooks import SCRIPTS
from components.kubernetes.gpus.smoke_check import COUNT, DRIVER
from components.kubernetes.gpus.smoke_job import PROGRAM
from gpu_ci.back_ends.shared.machine.user_data import HOOKS, hooks
from gpu_ci.repository.run_script import RUN_FILE, run_script
from ops.cli.options import ROOT
from tests.artefacts.fake_commands import FakeCommands, Run
from tests.kit.options import files
from tests.machine.boots import boot_args
from tests.stack_file import stacks

pytestmark = pytest.mark.artefacts

T4: Final = "Tesla T4, 580.159.03, 15360 MiB"
WARNING: Final = "WARNING: infoROM is corrupted at gpu 0000:00:1E.0"
ANSWERS: Final = {
    "a GPU": (T4, 0, True),
    "a GPU with a corrupted infoROM": (f"{T4}\n{WARNING}", 14, True),
    "a warning with exit code 0": (f"{WARNING}\n{T4}", 0, True),
    "only a warning": (WARNING, 14, False),
    "another number of GPUs": (f"{T4}\n{T4}", 0, False),
    "no GPU": ("No devices were found", 6, False),
    "a driver that is not loaded": (
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
        9,
        False,
    ),
    "a GPU that fell off the bus": (f"{T4}\nUnable to determine the device handle for GPU1: Unknown Error", 15, False),
    "words with exit code 0": ("Tesla T4, [Unknown Error], [GPU is lost]", 0, False),
}
"""Output and exit code of nvidia-smi, and whether a job with one GPU begins."""
STEP: Final = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail"]
"""The command with which a runner runs steps and hooks (GitHub Docs, "Workflow syntax", `shell: bash`, 2026)."""


def step(folder: Path) -> list[str]:
    workflow = yaml.safe_load((files(stacks.AWS, {}) or {})[".github/workflows/gpu-tests.yml"])
    found: dict[str, Any] = workflow["jobs"]["test"]["steps"][0]
    (folder / "step").write_text(
        "\n".join(f"export {key}='{one}'" for key, one in found["env"].items()) + f"\n{found['run']}"
    )
    return [*STEP, str(folder / "step")]


def hook(folder: Path) -> list[str]:
    (folder / "hook").write_text(SCRIPTS["job-started.sh"])
    return [*STEP, str(folder / "hook")]


def machine_hook(folder: Path) -> list[str]:
    (folder / "hook").write_text(hooks(boot_args(forks=True))[f"{HOOKS}/job-started.sh"])
    return [*STEP, str(folder / "hook")]


def script(folder: Path) -> list[str]:
    path = folder / "repository" / RUN_FILE
    path.parent.mkdir(parents=True)
    path.write_text(run_script(None, 1, (), ()))
    return ["bash", str(path), "basename", "x"]


def image(folder: Path) -> list[str]:
    """Return the part of the check of a runner image that is about GPUs."""
    text = (ROOT / "docker/runner-gpu/check-image").read_text(encoding="utf-8")
    part = text[text.index('if [ -n "$gpus" ]') : text.index('[ "$findings" = 0 ]')]
    head = 'set -Eeuo pipefail\ngpus=1 findings=0\nfinding() { echo "$1" >&2; findings=1; }\n'
    (folder / "image").write_text(f"{head}{part}exit $findings\n")
    return ["bash", str(folder / "image")]


PROGRAMS: Final[dict[str, Callable[[Path], list[str]]]] = {
    "the first step of a job": step,
    "the hook of a pod": hook,
    "the hook of a machine": machine_hook,
    "the script by hand": script,
    "the check of an image": image,
    "the smoke test": lambda _: [sys.executable, str(PROGRAM)],
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_job_begins_only_with_its_gpus_and_a_refusal_shows_the_answer(tmp_path: Path, program: str) -> None:
    wrong = []
    command, fake = PROGRAMS[program](tmp_path), FakeCommands(tmp_path)
    for name, (text, code, begins) in ANSWERS.items():
        fake.add("nvidia-smi", f"cat <<'TEXT'\n{text}\nTEXT\nexit {code}")
        ended: Run = fake.run(command, {"GPU_CI_GPUS": "1"})
        passed = ended.code not in {DRIVER, COUNT} if program == "the smoke test" else ended.code == 0
        if passed != begins or text.splitlines()[0] not in ended.out + ended.err:
            wrong.append((name, ended))

    assert wrong == []
