"""The check that a merge waits for: what every event makes of it, with GitHub's part played by the rules it documents.

Every event starts a run. Its conditions are evaluated, its script is run against a fake `gh`, and the newest
check of the required name is the one that GitHub believes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpu_ci.repository.gpu_workflow import CHECK, TESTS_FILE, TRIAGE_FILE, GpuTests, workflows
from tests.artefacts.callers import run_step
from tests.kit.github_expressions import holds, text_of

pytestmark = pytest.mark.artefacts

RUNS_ON = 'runs-on: "cirun-gpu-t4--${{ github.run_id }}-${{ github.run_attempt }}"'
TESTS = GpuTests(runner="cirun-gpu-t4", runs_on=RUNS_ON, suffix=True)
OURS, EXCUSE, ANOTHER = "run-gpu-ci", "skip-gpu-ci", "documentation"
PASSED, FAILED = "success", "failure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happens in a repository."""

    name: str = "pull_request"
    action: str | None = None
    label: str | None = None
    commit: str = "aaa"
    fork: bool = False
    number: int = 7
    """The pull request's."""

    @property
    def context(self) -> dict[str, Any]:
        """The state of the check at GitHub."""
        payload: dict[str, Any] = {}
        if self.name == "pull_request":
            payload = {
                "action": self.action,
                "pull_request": {"number": self.number, "head": {"sha": self.commit, "repo": {"fork": self.fork}}},
            }
            if self.label is not None:
                payload["label"] = {"name": self.label}
        return {"event_name": self.name, "event": payload, "sha": "merged" if payload else self.commit}


OPENED = Event(action="opened")
PUSHED = Event(action="synchronize", commit="bbb")
ASKED = Event(action="labeled", label=OURS)
EXCUSED = Event(action="labeled", label=EXCUSE)
LABELLED = Event(action="labeled", label=ANOTHER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The result of one event."""

    number: int
    commit: str
    group: str
    on_gpu: bool
    """Whether a machine with a GPU was asked for."""
    check: str
    """How the required check ended."""
    output: str


class Repository:
    """A repository with the workflow in it, and its runs so far."""

    def __init__(self, folder: Path, tests: GpuTests = TESTS, variables: Mapping[str, str] | None = None) -> None:
        self.workflow = parsed(tests, TESTS_FILE)
        self.variables = dict(variables or {})
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.runs: list[Run] = []
        jq = shutil.which("jq") or pytest.skip("jq is not here: apt-get install jq")
        (folder / "jq").symlink_to(jq)
        self.command("sleep", f'mv "{folder}/later.json" "{folder}/runs.json"')
        self.command("gh", f'printf "%s\\n" "$*" >>"{folder}/asked"; cat "{folder}/runs.json"')

    def command(self, name: str, body: str) -> None:
        file = self.folder / name
        file.write_text(f"#!/bin/bash\n{body}\n")
        file.chmod(0o755)

    def happens(self, event: Event, tests: str = PASSED, known: list[dict[str, Any]] | None = None) -> Run:
        """An event, and how the tests end if it starts them; `known` is what `gh` says instead of the runs so far."""
        number = len(self.runs) + 1
        contexts = {
            "github": {
                **event.context,
                "workflow": "GPU tests",
                "run_id": 1000 + number,
                "run_number": number,
                "run_attempt": 1,
                "repository": "owner/vision",
                "token": "t",
            },
            "vars": self.variables,
        }
        test, check = self.workflow["jobs"]["test"], self.workflow["jobs"]["check"]
        on_gpu = holds(test["if"], contexts)
        ended = tests if on_gpu else "skipped"
        contexts["needs"] = {"test": {"result": ended}}
        assert check["needs"] == "test"
        assert holds(check["if"], contexts, so_far=ended == "success"), "a skipped check counts as a passed one"
        (step,) = check["steps"]
        assert holds(step["if"], contexts)
        script, output = self.script(step, contexts, event.commit, known)
        run = Run(
            number=number,
            commit=event.commit,
            group=text_of(self.workflow["concurrency"]["group"], contexts),
            on_gpu=on_gpu,
            check=PASSED if script == 0 else FAILED,
            output=output,
        )
        self.runs.append(run)
        return run

    def script(
        self, step: Mapping[str, Any], contexts: Mapping[str, Any], commit: str, known: list[dict[str, Any]] | None
    ) -> tuple[int, str]:
        before = [
            {"run_number": run.number, "status": "completed", "conclusion": run.check}
            for run in self.runs
            if run.commit == commit
        ]
        (self.folder / "runs.json").write_text(json.dumps({"workflow_runs": before if known is None else known}))
        variables = {name: text_of(value, contexts) for name, value in step["env"].items()}
        path = {"PATH": f"{self.folder}:{os.environ['PATH']}"}
        ended = run_step("kit", step, self.workflow["jobs"]["check"], world=self.folder, environment=path | variables)
        return ended.code, ended.out

    def believed(self, commit: str) -> str | None:
        """Return the state of a commit at GitHub: the newest check with the required name."""
        return next((run.check for run in reversed(self.runs) if run.commit == commit), None)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def parsed(tests: GpuTests, path: str) -> Any:
    return yaml.load(workflows(tests)[path], Loader=yaml.BaseLoader)  # noqa: S506 - keeps `on` a word


def test_only_one_job_has_the_name_of_the_required_check() -> None:
    jobs = [job for path in (TESTS_FILE, TRIAGE_FILE) for job in parsed(TESTS, path)["jobs"].values()]

    assert [job["name"] for job in jobs].count(CHECK) == 1
    assert parsed(TESTS, TESTS_FILE)["jobs"]["check"]["name"] == CHECK == "GPU tests"


@pytest.mark.parametrize("fork", [False, True])
@pytest.mark.parametrize("event", [OPENED, PUSHED, replace(OPENED, action="reopened"), LABELLED])
def test_a_commit_without_the_label_is_not_tested_and_fails_the_check(
    repository: Repository, event: Event, fork: bool
) -> None:
    run = repository.happens(replace(event, fork=fork))

    assert (run.on_gpu, run.check) == (False, FAILED)
    assert "adds the label run-gpu-ci" in run.output


@pytest.mark.parametrize("fork", [False, True])
@pytest.mark.parametrize("ended", [PASSED, FAILED, "cancelled"])
def test_the_label_runs_the_tests_and_their_result_is_the_check(repository: Repository, ended: str, fork: bool) -> None:
    repository.happens(replace(OPENED, fork=fork))
    run = repository.happens(replace(ASKED, fork=fork), tests=ended)

    assert (run.on_gpu, run.check) == (True, PASSED if ended == PASSED else FAILED)


@pytest.mark.parametrize("ended", [FAILED, "cancelled"])
def test_failed_tests_fail_the_check_despite_an_earlier_success(repository: Repository, ended: str) -> None:
    repository.happens(ASKED)

    assert repository.happens(ASKED, tests=ended).check == FAILED


@pytest.mark.parametrize("name", ["push", "schedule", "workflow_dispatch"])
@pytest.mark.parametrize("ended", [PASSED, FAILED])
def test_an_event_without_a_pull_request_is_tested_without_a_label(
    repository: Repository, name: str, ended: str
) -> None:
    run = repository.happens(Event(name=name), tests=ended)

    assert (run.on_gpu, run.check) == (True, ended)


@pytest.mark.parametrize("ended", [PASSED, FAILED])
def test_another_label_and_a_reopening_repeat_the_last_result(repository: Repository, ended: str) -> None:
    repository.happens(ASKED, tests=ended)
    later = [repository.happens(event) for event in (LABELLED, replace(OPENED, action="reopened"), LABELLED)]

    assert [(run.on_gpu, run.check) for run in later] == [(False, ended)] * 3
    assert repository.believed("aaa") == ended


def test_the_next_commit_needs_a_new_label(repository: Repository) -> None:
    repository.happens(ASKED)
    pushed = repository.happens(PUSHED)
    labelled = repository.happens(replace(LABELLED, commit="bbb"))

    assert (pushed.check, labelled.check) == (FAILED, FAILED)
    assert (repository.believed("aaa"), repository.believed("bbb")) == (PASSED, FAILED)


def test_the_skip_label_is_valid_for_one_commit(repository: Repository) -> None:
    excused = repository.happens(EXCUSED)
    labelled = repository.happens(LABELLED)
    pushed = repository.happens(PUSHED)

    assert (excused.on_gpu, excused.check) == (False, PASSED)
    assert "excused" in excused.output
    assert (labelled.check, pushed.check) == (PASSED, FAILED)


def test_another_label_waits_for_the_running_tests(repository: Repository) -> None:
    running = [{"run_number": 1, "status": "in_progress", "conclusion": None}]
    ended = [{"run_number": 1, "status": "completed", "conclusion": "success"}]
    repository.happens(OPENED)
    (repository.folder / "later.json").write_text(json.dumps({"workflow_runs": ended}))
    run = repository.happens(LABELLED, known=running)

    assert run.check == PASSED


def test_a_run_uses_only_the_results_of_earlier_runs(repository: Repository) -> None:
    known = [
        {"run_number": 3, "status": "completed", "conclusion": "success"},
        {"run_number": 2, "status": "in_progress", "conclusion": None},
        {"run_number": 1, "status": "completed", "conclusion": "failure"},
    ]
    repository.happens(OPENED)
    run = repository.happens(LABELLED, known=known)

    assert (run.number, run.check) == (2, FAILED)
    assert "actions/workflows/gpu-tests.yml/runs -f head_sha=aaa" in (repository.folder / "asked").read_text()


@pytest.mark.parametrize("conclusion", ["skipped", "neutral", "cancelled", "timed_out", "action_required"])
def test_only_an_earlier_success_passes_the_check(repository: Repository, conclusion: str) -> None:
    repository.happens(OPENED)
    run = repository.happens(LABELLED, known=[{"run_number": 1, "status": "completed", "conclusion": conclusion}])

    assert run.check == FAILED


def test_a_request_that_github_does_not_answer_is_repeated(repository: Repository) -> None:
    repository.happens(ASKED)
    fails = (
        f'[ -e "{repository.folder}/later" ] && exec cat "{repository.folder}/runs.json"; echo "HTTP 502" >&2; exit 1'
    )
    repository.command("gh", fails)
    repository.command("sleep", f'touch "{repository.folder}/later"')
    run = repository.happens(LABELLED)

    assert (run.check, "GitHub did not answer" in run.output) == (PASSED, True)


def test_only_a_new_commit_and_our_labels_cancel_the_earlier_run(repository: Repository) -> None:
    asked = repository.happens(ASKED)
    ends = {
        event.label or event.action: repository.happens(event).group == asked.group
        for event in (OPENED, replace(OPENED, action="reopened"), LABELLED, PUSHED, ASKED, EXCUSED)
    }
    elsewhere = [repository.happens(replace(ASKED, number=8)), repository.happens(Event(name="push"))]

    assert repository.workflow["concurrency"]["cancel-in-progress"] == "true"
    assert ends == {"opened": False, "reopened": False, ANOTHER: False, "synchronize": True, OURS: True, EXCUSE: True}
    assert asked.group not in {run.group for run in elsewhere}


@pytest.mark.parametrize("event", [ASKED, Event(name="push"), Event(name="workflow_dispatch")])
def test_with_the_switch_off_no_job_is_queued_and_the_check_fails(tmp_path: Path, event: Event) -> None:
    switched = replace(TESTS, switch="ENABLE_GPU")
    off = Repository(tmp_path / "off", switched).happens(event)
    on = Repository(tmp_path / "on", switched, {"ENABLE_GPU": "true"}).happens(event)

    assert (off.on_gpu, off.check) == (False, FAILED)
    assert (on.on_gpu, on.check) == (True, PASSED)


@pytest.mark.parametrize(
    ("event", "off"),
    [
        (Event(action="labeled", label=OURS), True),
        (Event(action="labeled", label=EXCUSE), True),
        (Event(action="labeled", label=ANOTHER), False),
        (Event(action="synchronize"), True),
        (Event(action="reopened"), True),
    ],
)
def test_the_triage_starts_for_our_labels_and_for_every_push(event: Event, *, off: bool) -> None:
    workflow = parsed(TESTS, TRIAGE_FILE)
    contexts = {"github": {**event.context, "token": "t", "repository": "owner/vision"}}

    assert event.action in workflow["on"]["pull_request_target"]["types"]
    assert holds(workflow["jobs"]["triage"]["if"], contexts) is off


def test_the_triage_removes_only_our_labels(tmp_path: Path) -> None:
    job = parsed(TESTS, TRIAGE_FILE)["jobs"]["triage"]
    (step,) = job["steps"]
    gh = tmp_path / "gh"
    gh.write_text(f'#!/bin/sh\nif [ "$2" = view ]; then printf "bug\\n{OURS}\\n{OURS} 2\\n"; else echo "$@"; fi\n')
    gh.chmod(0o755)
    stated = {"REPOSITORY": "owner/vision", "NUMBER": "7", "RUN": step["env"]["RUN"], "SKIP": step["env"]["SKIP"]}
    environment = {**stated, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    ended = run_step("kit", step, job, world=tmp_path, environment=environment)

    assert ended.out.splitlines() == [f"pr edit 7 --repo owner/vision --remove-label {OURS}"]


def test_only_the_commit_that_got_the_label_is_tested(tmp_path: Path) -> None:
    job = parsed(TESTS, TESTS_FILE)["jobs"]["test"]
    steps = job["steps"]
    names = [step["name"] for step in steps]
    check = steps[names.index("Check that this is the commit that got the label")]
    me = {f"GIT_{who}_{what}": "x@y.z" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

    def git(*arguments: str) -> str:
        asked = ["git", "-C", str(tmp_path), *arguments]
        return subprocess.run(asked, env=os.environ | me, capture_output=True, text=True, check=True).stdout.strip()

    def ends(labelled: str) -> int:
        environment = {"PATH": os.environ["PATH"], "LABELLED": labelled}
        return run_step("kit", check, job, world=tmp_path, environment=environment).code

    git("init", "--quiet", "--initial-branch", "main")
    git("commit", "--quiet", "--allow-empty", "--message", "base")
    git("checkout", "--quiet", "-b", "fork")
    git("commit", "--quiet", "--allow-empty", "--message", "reviewed")
    reviewed = git("rev-parse", "HEAD")
    git("commit", "--quiet", "--allow-empty", "--message", "later")
    later = git("rev-parse", "HEAD")
    git("checkout", "--quiet", "main")
    git("merge", "--quiet", "--no-ff", "--message", "merge", "fork")

    assert (ends(later), ends(reviewed)) == (0, 1)
    assert names.index("Check out") < names.index(check["name"]) < names.index("Test")
    assert check["if"] == "github.event_name == 'pull_request'"
