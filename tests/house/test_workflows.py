"""Tests of the workflows: linters, pinned actions, no default permissions, only targets of the Makefile."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.artefacts.linters import NOTHING_FOUND, linter, zizmor

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z][a-z-]*)(?= .*:|:)", (ROOT / "Makefile").read_text(), re.MULTILINE))

each_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)


def read(path: Path) -> dict[str, Any]:
    """Parse a workflow; YAML 1.1 reads the key `on` as true."""
    workflow = {("on" if key is True else key): value for key, value in yaml.safe_load(path.read_text()).items()}
    assert isinstance(workflow["on"], dict)
    return workflow


@pytest.mark.artefacts
def test_actionlint_finds_nothing() -> None:
    ended = subprocess.run(
        [linter("actionlint"), "-no-color", *map(str, WORKFLOWS)], capture_output=True, check=False, text=True
    )

    assert (ended.returncode, ended.stdout) == (0, "")


@pytest.mark.artefacts
def test_actionlint_finds_an_error(tmp_path: Path) -> None:
    broken = tmp_path / "ci.yml"
    broken.write_text(WORKFLOWS[0].read_text().replace("github.event_name", "github.evnt_name"))

    ended = subprocess.run([linter("actionlint"), "-no-color", broken], capture_output=True, check=False, text=True)

    assert 'property "evnt_name" is not defined' in ended.stdout


@pytest.mark.artefacts
def test_zizmor_finds_nothing() -> None:
    assert zizmor(ROOT, *WORKFLOWS) == NOTHING_FOUND


@pytest.mark.artefacts
def test_zizmor_finds_an_error(tmp_path: Path) -> None:
    broken = tmp_path / "ci.yml"
    broken.write_text(re.sub(r"@[0-9a-f]{40}", "@main", WORKFLOWS[0].read_text()))

    assert "unpinned-uses" in zizmor(tmp_path, broken)[1]


@pytest.mark.pure
@each_workflow
def test_every_action_is_pinned_to_a_commit_with_its_release(path: Path) -> None:
    uses = [line.strip() for line in path.read_text().splitlines() if re.match(r"\s*(- )?uses:", line)]
    loose = [line for line in uses if not re.fullmatch(r"(- )?uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)]

    assert uses
    assert loose == []


@pytest.mark.pure
def test_an_action_has_the_same_commit_everywhere() -> None:
    pins: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        for action, pin in re.findall(r"uses: ([\w./-]+)@(\S+ # \S+)", path.read_text()):
            pins.setdefault(action, set()).add(pin)

    assert {action: commits for action, commits in pins.items() if len(commits) > 1} == {}


@pytest.mark.pure
@each_workflow
def test_only_jobs_have_permissions(path: Path) -> None:
    workflow = read(path)

    assert workflow["permissions"] == {}
    assert [name for name, job in workflow["jobs"].items() if "permissions" not in job] == []


@pytest.mark.pure
@each_workflow
def test_a_pull_request_gets_no_credentials(path: Path) -> None:
    workflow = read(path)
    reachable = {name: job for name, job in workflow["jobs"].items() if "refs/heads/main" not in job.get("if", "")}
    powerful = [name for name, job in reachable.items() if "write" in str(job["permissions"]) or "secrets." in str(job)]

    assert "pull_request_target" not in workflow["on"]
    assert powerful == []


@pytest.mark.pure
@each_workflow
def test_every_job_has_a_timeout(path: Path) -> None:
    endless = [name for name, job in read(path)["jobs"].items() if job.get("timeout-minutes", 0) not in range(1, 121)]

    assert endless == []


@pytest.mark.pure
@each_workflow
def test_every_target_in_a_workflow_exists(path: Path) -> None:
    made = set(re.findall(r"(?:run: |\n\s+|\$\()make (?:--silent )?([a-z-]+)", path.read_text()))

    assert made
    assert made - TARGETS == set()


@pytest.mark.pure
def test_ci_previews_every_stack() -> None:
    stacks = sorted(path.name.split(".")[1] for path in ROOT.glob("Pulumi.*.yaml"))
    matrix = read(ROOT / ".github/workflows/ci.yml")["jobs"]["preview"]["strategy"]["matrix"]

    assert sorted(matrix["stack"]) == stacks


@pytest.mark.pure
def test_the_deployment_runs_in_its_environment_one_at_a_time() -> None:
    job = read(ROOT / ".github/workflows/ci.yml")["jobs"]["deploy-staging"]

    assert job["environment"] == "staging"
    assert job["concurrency"] == {"group": "deploy-staging", "cancel-in-progress": False}


@pytest.mark.pure
def test_the_deployment_knows_the_history_and_waits_after_a_cancellation() -> None:
    """GitHub interrupts only the first process of a step, so the shell must be replaced."""
    steps = read(ROOT / ".github/workflows/ci.yml")["jobs"]["deploy-staging"]["steps"]
    deploy = next(step for step in steps if step.get("name") == "Deploy")
    last = steps[-1]

    assert steps[0]["with"]["fetch-depth"] == 0
    assert deploy["run"].splitlines()[-1] == "exec .venv/bin/python -m tools.deploy staging"
    assert last["if"].startswith("always()")
    assert last["run"].strip() == "exec .venv/bin/python -m tools.deploy staging --finish"
