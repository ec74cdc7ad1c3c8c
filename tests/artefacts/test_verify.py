"""The proof after a deployment: the exit codes of the doctor and of the smoke test decide about the run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ops.pipeline import verify

pytestmark = pytest.mark.artefacts

BROKEN = "read its output above, and the section of docs/runbook.md that it names."


class Commands:
    """The commands of `ops`, with the exit codes of a test."""

    def __init__(self, doctor: int, smoke: int) -> None:
        self.codes = {"doctor": doctor, "smoke": smoke}
        self.ran: list[str] = []

    def run(self, command: list[str], **_options: Any) -> subprocess.CompletedProcess[str]:
        assert command[:3] == [sys.executable, "-m", "ops"]
        assert command[4:] == ["--stack", "small"]
        self.ran.append(command[3])
        return subprocess.CompletedProcess(command, self.codes[command[3]])


@pytest.mark.parametrize(
    ("doctor", "smoke", "code", "line"),
    [
        (0, 0, 0, "make smoke STACK=small"),
        (1, 0, 1, f"::error::small is deployed, but make doctor ended with the code 1: {BROKEN}"),
        (0, 1, 1, f"::error::small is deployed, but make smoke ended with the code 1: {BROKEN}"),
        (3, 1, 1, f"::error::small is deployed, but make smoke ended with the code 1: {BROKEN}"),
        (3, 0, 0, "::warning::The doctor could not ask every system about small; the links that it asked about work."),
        (0, 3, 3, f"::error::small is deployed, but make smoke ended with the code 3: {BROKEN}"),
        (2, 0, 2, f"::error::small is deployed, but make doctor ended with the code 2: {BROKEN}"),
        (77, 0, 0, "::warning::The doctor could not ask every system about small; the links that it asked about work."),
    ],
)
def test_a_broken_link_or_gpu_fails_the_run(
    doctor: int,
    smoke: int,
    code: int,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    commands = Commands(doctor, smoke)
    (tmp_path / "Pulumi.small.yaml").write_text("config: {gpu-ci:smoke-test: {image: pytorch}}")
    monkeypatch.setattr(verify, "ROOT", tmp_path)
    monkeypatch.setattr(subprocess, "run", commands.run)

    assert verify.main(["small"]) == code
    assert line in capsys.readouterr().out.splitlines()
    assert commands.ran == ["doctor", "smoke"]


def test_a_stack_without_a_smoke_test_is_not_tested_on_gpus(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = Commands(0, 1)
    (tmp_path / "Pulumi.small.yaml").write_text("config: {}")
    monkeypatch.setattr(verify, "ROOT", tmp_path)
    monkeypatch.setattr(subprocess, "run", commands.run)

    assert verify.main(["small"]) == 0
    assert commands.ran == ["doctor"]
    assert "::notice::Pulumi.small.yaml has no smoke-test, so no GPU was tested" in capsys.readouterr().out
