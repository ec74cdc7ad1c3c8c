"""The steps of the workflow `report`, in the shallow checkout of a merge as GitHub provides it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from ops.cli.options import ROOT
from tests.artefacts.callers import Run, run_step

pytestmark = pytest.mark.artefacts

MAKE: Final = """#!/bin/bash
echo "make $*"
git rev-parse --verify --quiet "${2#BASE=}^{commit}"
[ -z "$REPORT" ] || echo "$REPORT" > out/report.md
exit "${CODE:-0}"
"""


class Job:
    """A checkout with depth 2 of the merge of a branch into its base, and a `make` on PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.origin, self.checkout = folder, folder / "origin", folder / "checkout"
        self.environment = {
            "PATH": f"{folder}:{os.environ['PATH']}",
            "GITHUB_BASE_REF": "release/2",
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            "NUMBER": "7",
            "STACK": "staging",
            "REPORT": "",
            **{f"GIT_{who}_{what}": "x@y.z" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }
        (folder / "make").write_text(MAKE)
        (folder / "make").chmod(0o755)
        self.git(folder, "init", "--quiet", "--initial-branch=release/2", str(self.origin))
        for message in ("one", "two"):
            self.git(self.origin, "commit", "--quiet", "--allow-empty", "--message", message)
        self.git(self.origin, "checkout", "--quiet", "-b", "change", "HEAD^")
        self.git(self.origin, "commit", "--quiet", "--allow-empty", "--message", "change")
        self.git(self.origin, "checkout", "--quiet", "release/2")
        self.base = self.git(self.origin, "rev-parse", "HEAD")
        self.git(self.origin, "merge", "--quiet", "--no-ff", "--message", "merge", "change")
        self.git(folder, "clone", "--quiet", "--depth", "2", f"file://{self.origin}", str(self.checkout))
        self.git(self.checkout, "remote", "remove", "origin")

    def git(self, where: Path, *arguments: str) -> str:
        asked = subprocess.run(
            ["git", *arguments], cwd=where, env=self.environment, check=True, capture_output=True, text=True
        )
        return asked.stdout.strip()

    def step(self, name: str, **environment: str) -> Run:
        """Run a step as GitHub does."""
        job: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/report.yml").read_text())["jobs"]["report"]
        step = next(one for one in job["steps"] if one.get("name") == name)
        variables = {**self.environment, **environment}
        return run_step("report.yml", step, job, world=self.folder, folder=self.checkout, environment=variables)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


def test_the_base_is_the_first_parent_of_the_merge_commit(job: Job) -> None:
    job.step("State the pull request")
    ended = job.step("Report")

    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == ["make report BASE=origin/release/2", job.base]


def test_the_artifact_states_the_pull_request(job: Job) -> None:
    assert job.step("State the pull request").code == 0
    assert json.loads((job.checkout / "out/pull-request.json").read_text()) == {"number": "7"}


@pytest.mark.parametrize(
    ("code", "written", "summary"), [("0", "a report", "a report\n"), ("2", "a report", "a report\n"), ("2", "", None)]
)
def test_the_summary_has_a_report_with_findings(job: Job, code: str, written: str, summary: str | None) -> None:
    job.step("State the pull request")
    reported = job.step("Report", CODE=code, REPORT=written)
    shown = job.step("Show the report in the summary of the run")
    found = job.folder / "summary"

    assert (reported.code, shown.code) == (int(code), 0)
    assert (found.read_text() if found.exists() else None) == summary
