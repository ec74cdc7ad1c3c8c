"""Every workflow that the kit writes, for every stack file, every kind of runner and every option.

The conditions are evaluated as GitHub does it. Therefore a workflow that would give a GPU to a fork fails here.
"""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest
import yaml

from gpu_ci.repository.documents import load_yaml
from ops.cli.options import ROOT
from ops.plan import golden, golden_workflows
from tests.kit.github_expressions import results
from tests.kit.options import CASES, OPTIONS, RUNNERS, workflows, written
from tests.stack_file import stacks

pytestmark = pytest.mark.pure

BRANCH: Final = "example-org/vision"
OWN: Final = "a machine that a workflow starts"
HOSTED: Final = "ubuntu-24.04"


def parsed(text: str) -> Any:
    return yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - keeps `on` a word


VARIABLES: Final = dict.fromkeys(("GPU", "ENABLE_GPU", "ENABLE_GPU_SMOKE"), "true")
"""The variables of the repository: all tests are switched on."""


def event(name: str, action: str = "", label: str | None = None, *, fork: bool = True) -> dict[str, Any]:
    """Return the contexts of a run."""
    payload: dict[str, Any] = {}
    if name.startswith("pull_request"):
        head = {"sha": "aaa", "repo": {"fork": fork, "full_name": "someone/vision" if fork else BRANCH}}
        payload = {"action": action, "pull_request": {"number": 7, "head": head}}
        if label is not None:
            payload["label"] = {"name": label}
    github = {"event_name": name, "event": payload, "repository": BRANCH, "run_attempt": "1"}
    return {"github": github, "vars": VARIABLES}


UNASKED: Final = {
    **{f"{name} {action}": event(name, action) for name in ("pull_request", "pull_request_target")
       for action in ("opened", "synchronize", "reopened", "closed", "edited", "unlabeled")},
    "another label": event("pull_request", "labeled", "documentation"),
    "the excuse": event("pull_request", "labeled", "skip-gpu-ci"),
    "a removed label": event("pull_request", "unlabeled", "run-gpu-ci"),
    "the label in another event": event("pull_request_target", "labeled", "run-gpu-ci"),
}  # fmt: skip
"""Events of a fork's pull request without a request of a maintainer."""


def on_gpu(document: Mapping[str, Any], contexts: Mapping[str, Any]) -> list[str]:
    """Return the jobs that get a machine with a GPU in a run. A called workflow runs for every event of its caller."""
    started, github = document["on"], contexts["github"]
    types = (started.get(github["event_name"]) or {}).get("types", ["opened", "synchronize", "reopened"])
    if "workflow_call" not in started and (
        github["event_name"] not in started or github["event"].get("action") not in types
    ):
        return []
    ran = [name for name, one in results(document["jobs"], contexts).items() if one["result"] != "skipped"]
    return [name for name in ran if document["jobs"][name].get("runs-on") != HOSTED]


@functools.cache
def documents(place: str, option: str = "") -> dict[str, Any]:
    """Return the workflows of a case by their place, as GitHub reads them."""
    found = workflows(written(place, option) or {})
    return {f"{place}, {option}: {path}": parsed(text) for path, text in found.items()}


def every_document() -> Iterator[tuple[str, Any]]:
    """Yield every workflow of every case with its place."""
    for case in CASES:
        yield from documents(*case).items()


def every_step() -> Iterator[tuple[str, Any]]:
    """Yield every step of every workflow with its place."""
    for name, document in every_document():
        yield from ((name, step) for job in document["jobs"].values() for step in job.get("steps", ()))


def test_every_kind_of_runner_has_every_option_that_its_workflow_can_have() -> None:
    refused = {(kind, option) for kind in RUNNERS for option in OPTIONS if written(kind, option) is None}

    assert refused == {
        (OWN, option)
        for option, entry in OPTIONS.items()
        if entry.keys() & {"cpu", "matrix", "container", "paths", "reusable", "skip-label", "smoke-schedule"}
    }


def test_a_fork_gets_no_gpu_without_the_label() -> None:
    assert [
        (name, asked, jobs)
        for name, document in every_document()
        for asked, contexts in UNASKED.items()
        if (jobs := on_gpu(document, contexts))
    ] == []
    refused = {"workflow_run", "issue_comment", "issues"}
    assert [name for name, document in every_document() if not refused.isdisjoint(document["on"])] == []


def test_a_job_with_a_gpu_runs_only_the_labelled_commit() -> None:
    jobs = [(name, job) for name, document in every_document() for job in document["jobs"].values()]
    steps = [(name, [step["name"] for step in job.get("steps", ())]) for name, job in jobs]
    on_gpus = [(name, names) for name, names in steps if "Check the GPU" in names]

    def in_order(names: list[str]) -> bool:
        check = names.index("Check that this is the commit that got the label")
        return names[0] == "Check the GPU" and names.index("Check out") + 1 == check < names.index("Test")

    assert on_gpus
    assert [(name, names) for name, names in on_gpus if not in_order(names)] == []


@pytest.mark.parametrize("kind", RUNNERS)
def test_a_label_starts_the_tests(kind: str) -> None:
    asked = event("pull_request", "labeled", "run-gpu-ci", fork=kind != OWN)

    assert any(on_gpu(document, asked) for document in documents(kind, "no option").values())


@pytest.mark.parametrize(
    "change",
    [
        lambda job: job.pop("if"),
        lambda job: job.update({"if": "github.event_name == 'pull_request'"}),
        lambda job: job.update({"if": "always()"}),
        lambda job: job.update({"if": "github.event.action == 'labeled'"}),
    ],
)
def test_a_workflow_without_the_condition_is_found(change: Any) -> None:
    document = copy.deepcopy(next(iter(documents(stacks.AWS).values())))
    change(document["jobs"]["test"])

    assert any(on_gpu(document, contexts) for contexts in UNASKED.values())


def test_a_workflow_has_no_permissions_and_every_job_has_a_timeout() -> None:
    assert [name for name, document in every_document() if document["permissions"] != {}] == []
    assert [
        (name, job)
        for name, document in every_document()
        for job, stated in document["jobs"].items()
        if "timeout-minutes" not in stated and "uses" not in stated
    ] == []


def test_actions_are_pinned_and_scripts_have_no_expressions() -> None:
    used = [(name, step, step["uses"]) for name, step in every_step() if "uses" in step]

    assert [(name, uses) for name, _, uses in used if not re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", uses)] == []
    assert [(name, step["run"]) for name, step in every_step() if "${{" in step.get("run", "")] == []
    assert [(name, step) for name, step, uses in used
            if "actions/checkout" in uses and step["with"]["persist-credentials"] != "false"] == []  # fmt: skip


def test_every_yaml_file_can_be_read_back() -> None:
    read, texts = [], []
    for case in CASES:
        found = written(*case) or {}
        read.append((case, [load_yaml(text, path) for path, text in found.items() if path.endswith((".yml", ".yaml"))]))
        texts += [(case, path, text) for path, text in workflows(found).items()]

    assert [case for case, files in read if not files and written(*case)] == []
    assert [(case, path) for case, path, text in texts if not text.startswith("# Generated by gpu-ci.")] == []


@pytest.mark.parametrize("file", sorted(set(golden.originals().values())), ids=lambda file: file.name)
def test_the_workflows_equal_the_golden_files(file: Any) -> None:
    made = golden_workflows.workflows(file)
    kept = {path: path.read_text(encoding="utf-8") for path in (golden_workflows.FOLDER / file.stem).glob("*.yml")}

    assert kept == made, "if the change is intended, run `make golden`"


def test_every_golden_workflow_has_a_stack_file() -> None:
    known = {file.stem for file in golden.originals().values()}

    assert {path.name for path in golden_workflows.FOLDER.iterdir()} <= known
    assert ROOT in golden_workflows.FOLDER.parents
