"""The step of the workflow `preview` that runs Pulumi, with a `pulumi` that only prints."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest
import yaml

from ops.cli.options import ROOT
from tests.artefacts.callers import Run, run_step

pytestmark = pytest.mark.artefacts

PULUMI: Final = """#!/bin/bash
echo "pulumi $*"
head --bytes="${BYTES:-0}" /dev/zero | tr '\\0' x
echo "error: a policy violation" >&2
exit "${CODE:-0}"
"""


def preview(folder: Path, **environment: str) -> tuple[Run, str]:
    """Run the step as GitHub does; return its result and the summary of the run."""
    job = yaml.safe_load((ROOT / ".github/workflows/preview.yml").read_text())["jobs"]["preview-staging"]
    step = job["steps"][-1]
    commands = folder / "commands"
    commands.mkdir()
    (commands / "pulumi").write_text(PULUMI)
    (commands / "pulumi").chmod(0o755)
    (folder / "pulumi-folder").write_text(str(commands))
    variables = {
        "PATH": os.environ["PATH"],
        "RUNNER_TEMP": str(folder),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "STACK": step["env"]["STACK"],
    }
    ended = run_step("preview.yml", step, job, world=folder, environment=variables | environment)
    return ended, (folder / "summary").read_text()


@pytest.mark.parametrize("code", [0, 255])
def test_the_preview_is_in_the_log_and_in_the_summary(tmp_path: Path, code: int) -> None:
    ended, summary = preview(tmp_path, CODE=str(code))

    assert ended.code == code
    assert ended.out.splitlines() == [
        "pulumi preview --stack staging --non-interactive --color never --diff --refresh=false --policy-pack gpu_ci/policy",
        "error: a policy violation",
    ]
    assert summary == f"## Preview of staging\n````text\n{ended.out}\n````\n"


def test_a_long_preview_is_cut_to_the_limit_of_a_summary(tmp_path: Path) -> None:
    ended, summary = preview(tmp_path, BYTES="3000000")

    assert ended.code == 0
    assert len(summary) <= 1024**2
    assert summary.endswith("\n````\n")
