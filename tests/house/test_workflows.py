"""Tests of the workflows: linters, pinned actions, no default permissions, only targets of the Makefile."""

from __future__ import annotations

import re
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from ops.pipeline.saved_plan import LIFETIME
from tests.artefacts.linters import NOTHING_FOUND, linter, zizmor
from tests.kit.github_expressions import holds

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z][a-z-]*)(?= .*:|:)", (ROOT / "Makefile").read_text(), re.MULTILINE))

OWN = "example-org/gpu-infra"
VARIABLES = {name for path in WORKFLOWS for name in re.findall(r"vars\.(\w+)", path.read_text())}

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
    pinned = r"(- )?uses: (\./\.github/workflows/[\w-]+\.yml.*|[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)"
    loose = [line for line in uses if not re.fullmatch(pinned, line)]

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


def pull_request(*, head: str = OWN, author: str = "octocat", switch: str = "true") -> dict[str, Any]:
    """Return the contexts of a pull request, with every variable of the repository set."""
    event = {"pull_request": {"number": 7, "head": {"repo": {"full_name": head}}, "user": {"login": author}}}
    github = {"event_name": "pull_request", "ref": "refs/pull/7/merge", "repository": OWN, "event": event}
    return {"github": github, "vars": dict.fromkeys(VARIABLES, switch), "needs": {}, "cancelled()": False}


def with_credentials(path: Path, contexts: dict[str, Any]) -> list[str]:
    """Return the jobs with more than a token that reads, which run for a pull request."""
    workflow = read(path)
    if "pull_request" not in workflow["on"]:
        return []
    return [
        name
        for name, job in workflow["jobs"].items()
        if holds(job.get("if", "success()"), contexts)
        and ("write" in str(job["permissions"]) or "secrets." in str(job) or "environment" in job)
    ]


@pytest.mark.pure
def test_a_pull_request_gets_no_credentials() -> None:
    untrusted = {
        "fork": pull_request(head="mallory/gpu-infra"),
        "fork of a bot": pull_request(head="mallory/gpu-infra", author="dependabot[bot]"),
        "Dependabot": pull_request(author="dependabot[bot]"),
        "not switched on": pull_request(switch=""),
    }

    assert [path.name for path in WORKFLOWS if "pull_request_target" in read(path)["on"]] == []
    assert [
        (path.name, source, jobs)
        for path in WORKFLOWS
        for source, contexts in untrusted.items()
        if (jobs := with_credentials(path, contexts))
    ] == []


@pytest.mark.pure
def test_a_branch_of_the_repository_is_previewed_by_the_role_that_reads() -> None:
    found = {path.name: names for path in WORKFLOWS if (names := with_credentials(path, pull_request()))}
    job = read(ROOT / ".github/workflows/preview.yml")["jobs"]["preview-staging"]

    assert found == {"preview.yml": ["preview-staging"]}
    assert job["environment"] == "staging-preview"
    assert "DEPLOY" not in str(job)


@pytest.mark.pure
@each_workflow
def test_a_run_after_a_pull_request_uses_only_the_default_branch(path: Path) -> None:
    """It has a token that may write, also if the pull request is from a fork."""
    workflow = read(path)
    if "workflow_run" not in workflow["on"]:
        return
    for job in workflow["jobs"].values():
        checkouts = [step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")]
        assert [step["with"] for step in checkouts] == [{"persist-credentials": False}]
        assert [step for step in job["steps"] if "workflow_run" in str(step)] == []
        assert job["permissions"] == {"actions": "read", "contents": "read", "pull-requests": "write"}


@pytest.mark.pure
def test_every_step_that_calls_gh_has_the_token_of_the_job() -> None:
    calls = re.compile(r"\bgh (?:api|issue|pr|run)\b|ops/pipeline/one-issue\.sh|ops\.pipeline\.report_comment")
    found = {
        f"{path.name}: {step['name']}": step["env"].get("GH_TOKEN")
        for path in WORKFLOWS
        for job in read(path)["jobs"].values()
        for step in job.get("steps", [])
        if calls.search(step.get("run", ""))
    }

    assert len(found) == 4
    assert {name: token for name, token in found.items() if token != "${{ github.token }}"} == {}


@pytest.mark.pure
@pytest.mark.parametrize(
    ("event", "conclusion", "runs"),
    [
        ("pull_request", "success", True),
        ("pull_request", "failure", True),
        ("pull_request", "cancelled", False),
        ("push", "success", False),
    ],
)
def test_a_comment_is_written_after_a_report(event: str, conclusion: str, *, runs: bool) -> None:
    contexts = {"github": {"event": {"workflow_run": {"event": event, "conclusion": conclusion}}}}
    job = read(ROOT / ".github/workflows/report-comment.yml")["jobs"]["comment"]

    assert holds(job["if"], contexts) is runs


@pytest.mark.pure
def test_the_comment_follows_the_report() -> None:
    comment, report = (read(ROOT / ".github/workflows" / f"{name}.yml") for name in ("report-comment", "report"))
    upload = next(step for step in report["jobs"]["report"]["steps"] if "upload-artifact@" in step.get("uses", ""))

    assert comment["on"]["workflow_run"]["workflows"] == [report["name"]]
    assert upload["if"] == "success() || failure()"
    assert upload["with"]["name"].startswith("report-")


@pytest.mark.pure
@each_workflow
def test_every_job_has_a_timeout(path: Path) -> None:
    jobs = {name: job for name, job in read(path)["jobs"].items() if "uses" not in job}
    endless = [name for name, job in jobs.items() if job.get("timeout-minutes", 0) not in range(1, 121)]

    assert endless == []


@pytest.mark.pure
@each_workflow
def test_every_target_in_a_workflow_exists(path: Path) -> None:
    made = set(re.findall(r"(?:run: |\n\s+|\$\()make (?:--silent )?([a-z-]+)", path.read_text()))

    assert made - TARGETS == set()


@pytest.mark.pure
def test_every_stack_is_reported() -> None:
    stacks = sorted(path.name.split(".")[1] for path in ROOT.glob("Pulumi.*.yaml"))
    matrix = read(ROOT / ".github/workflows/report.yml")["jobs"]["report"]["strategy"]["matrix"]

    assert sorted(matrix["stack"]) == stacks


CI, DEPLOY = (ROOT / ".github" / "workflows" / name for name in ("ci.yml", "deploy.yml"))


def steps(job: str) -> dict[str, dict[str, Any]]:
    """The steps of a job of the deployment, by their names or actions."""
    return {step.get("name") or step["uses"].partition("@")[0]: step for step in read(DEPLOY)["jobs"][job]["steps"]}


@pytest.mark.pure
@pytest.mark.parametrize(("stack", "approval"), [("staging", False), ("production", True)])
def test_a_stack_is_deployed_after_all_tests_if_its_variable_is_set(stack: str, approval: bool) -> None:
    job = read(CI)["jobs"][f"deploy-{stack}"]

    assert job["with"] == {"stack": stack, "approval": approval}
    assert {"check", "test"} <= set(job["needs"])
    assert f"vars.DEPLOY_{stack.upper()} == 'true'" in job["if"]
    assert "github.event_name == 'push' && github.ref == 'refs/heads/main'" in job["if"].replace("\n", " ")


@pytest.mark.pure
def test_the_deployment_runs_in_its_environment_one_at_a_time() -> None:
    jobs = read(DEPLOY)["jobs"]

    assert jobs["deploy"]["environment"] == "${{ inputs.stack }}"
    assert jobs["deploy"]["concurrency"] == {"group": "deploy-${{ inputs.stack }}", "cancel-in-progress": False}
    assert jobs["plan"]["environment"] == "${{ inputs.stack }}-plan"


@pytest.mark.pure
@pytest.mark.parametrize(("job", "phases"), [("plan", ["plan"]), ("deploy", ["plan", "apply", "finish"])])
def test_every_phase_of_the_deployment_replaces_its_shell(job: str, phases: list[str]) -> None:
    """GitHub interrupts only the first process of a step."""
    called = [
        step["run"].splitlines()[-1] for step in steps(job).values() if "ops.pipeline.deploy" in step.get("run", "")
    ]
    folder = {"plan": " --folder out/plan", "apply": " --folder out/plan", "finish": ""}

    assert called == [f'exec .venv/bin/python -m ops.pipeline.deploy {one} "$STACK"{folder[one]}' for one in phases]
    assert steps(job)["actions/checkout"]["with"]["fetch-depth"] == 0


@pytest.mark.pure
def test_the_approved_plan_is_an_artifact_with_a_short_life() -> None:
    upload, download = steps("plan")["actions/upload-artifact"], steps("deploy")["Download the approved plan"]

    assert timedelta(days=upload["with"]["retention-days"]) == LIFETIME
    assert upload["with"]["name"] == "plan-${{ inputs.stack }}"
    assert 'gh run download "$GITHUB_RUN_ID" --repo "$GITHUB_REPOSITORY" --name "plan-$STACK"' in download["run"]
    assert upload["with"]["path"] == "out/plan"


@pytest.mark.pure
def test_a_cancelled_deployment_is_waited_for_and_a_finished_one_is_verified() -> None:
    deploy = steps("deploy")
    names = list(deploy)

    assert deploy["Wait for a cancelled deployment"]["if"].startswith("always()")
    assert names.index("Wait for a cancelled deployment") == names.index("Deploy") + 1
    assert deploy["Verify with make doctor and make smoke"]["if"] == "steps.deploy.outcome == 'success'"
    assert 'ops.pipeline.verify "$STACK"' in deploy["Verify with make doctor and make smoke"]["run"]


@pytest.mark.pure
@pytest.mark.parametrize(
    ("variables", "runs"),
    [
        ({}, False),
        ({"DEPLOY_STAGING": "true"}, True),
        ({"DEPLOY_PRODUCTION": "true"}, True),
        ({"DEPLOY_STAGING": "false"}, False),
    ],
)
def test_only_deployed_stacks_can_drift(variables: dict[str, str], *, runs: bool) -> None:
    jobs = read(ROOT / ".github/workflows/drift.yml")["jobs"]
    contexts = {"github": {"ref": "refs/heads/main"}, "vars": variables}

    assert holds(jobs["stacks"]["if"], contexts) is runs
    assert jobs["drift"]["environment"] == "${{ matrix.stack }}-plan"
    assert jobs["drift"]["permissions"] == {"contents": "read", "issues": "write", "id-token": "write"}


@pytest.mark.pure
@pytest.mark.parametrize(
    ("approval", "plan", "changes", "runs"),
    [
        (False, "skipped", "", True),
        (True, "success", "true", True),
        (True, "success", "false", False),
        (True, "failure", "", False),
    ],
)
def test_a_stack_is_updated_if_its_plan_changes_something(
    plan: str, changes: str, *, approval: bool, runs: bool
) -> None:
    needs = {"plan": {"result": plan, "outputs": {"changes": changes}}}
    contexts = {"inputs": {"approval": approval}, "needs": needs, "cancelled()": False}

    assert holds(read(DEPLOY)["jobs"]["deploy"]["if"], contexts) is runs
