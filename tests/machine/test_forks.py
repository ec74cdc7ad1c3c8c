"""The script that refuses jobs of forks, and its place in the user data."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gpu_ci.back_ends.shared.machine.user_data import FOLDER, FORKS, HOOKS, hooks, units, user_data
from tests.artefacts.linters import linter
from tests.machine.boots import boot_args
from tests.machine.test_user_data import files

SCRIPT = FOLDER / "hooks" / "refuse-forks.sh"
JOB = "gpu-ci-job.service"


def hook(event: dict[str, Any] | None, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the script before a job of `example-org/vision`."""
    path = folder / "event.json"
    if event is not None:
        path.write_text(json.dumps(event), encoding="utf-8")
    known = {"PATH": "/usr/bin:/bin", "GITHUB_EVENT_PATH": str(path), "GITHUB_REPOSITORY": "example-org/vision"}
    return subprocess.run(["bash", "-e", SCRIPT], env=known, capture_output=True, text=True, check=False)


def pull(repository: str | None) -> dict[str, Any]:
    return {"pull_request": {"head": {"repo": {"full_name": repository} if repository is not None else None}}}


@pytest.mark.pure
@pytest.mark.parametrize(
    "event",
    [{"ref": "refs/heads/main"}, {"schedule": "17 3 * * *"}, pull("example-org/vision"), pull("Example-Org/Vision")],
    ids=["push", "schedule", "own branch", "other case"],
)
def test_jobs_of_the_repository_run(event: dict[str, Any], tmp_path: Path) -> None:
    assert hook(event, tmp_path).returncode == 0


@pytest.mark.pure
@pytest.mark.parametrize("repository", ["stranger/vision", "example-org/vision-2", None], ids=str)
def test_jobs_of_forks_are_refused_with_the_reason(repository: str | None, tmp_path: Path) -> None:
    run = hook(pull(repository), tmp_path)

    assert (run.returncode, run.stderr) == (1, "This machine runs no jobs of pull requests from forks.\n")


@pytest.mark.pure
def test_a_job_without_an_event_is_refused(tmp_path: Path) -> None:
    assert hook(None, tmp_path).returncode == 1


@pytest.mark.pure
def test_the_runner_calls_the_script_unless_forks_may_run() -> None:
    closed, opened = boot_args(), boot_args(forks=True)

    assert "sys.exit(" in files(user_data(closed))[f"{HOOKS}/{FORKS}"]
    assert f"{HOOKS}/{FORKS}" in hooks(closed)[f"{HOOKS}/job-started.sh"]
    assert f"{HOOKS}/{FORKS}" not in files(user_data(opened))
    for args in (closed, opened):
        assert f"Environment=ACTIONS_RUNNER_HOOK_JOB_STARTED={HOOKS}/job-started.sh\n" in units(args)[JOB]
        assert f"Environment=ACTIONS_RUNNER_HOOK_JOB_COMPLETED={HOOKS}/job-completed.sh\n" in units(args)[JOB]


@pytest.mark.artefacts
def test_shellcheck_has_no_finding_in_the_script() -> None:
    found = subprocess.run([linter("shellcheck"), str(SCRIPT)], capture_output=True, check=False, text=True)

    assert (found.returncode, found.stdout) == (0, "")
