"""Every workflow that the kit writes, for every stack file, every kind of runner and every option.

The conditions are evaluated as GitHub does it. Therefore a workflow that would give a GPU to a fork fails here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from gpu_ci.repository.documents import load_yaml
from ops.cli.options import ROOT
from ops.plan import golden, golden_workflows
from tests.kit.github_expressions import holds
from tests.kit.options import CASES, OPTIONS, RUNNERS, workflows, written
from tests.stack_file import stacks

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    return {"github": {"event_name": name, "event": payload, "repository": BRANCH}, "vars": VARIABLES, "needs": {}}


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
    ran: dict[str, bool] = {}
    for name, job in document["jobs"].items():
        needs = [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", [])
        results = {one: {"result": "success" if ran[one] else "skipped"} for one in needs}
        so_far = all(ran[one] for one in needs)
        ran[name] = holds(job.get("if", "success()"), {**contexts, "needs": results}, so_far=so_far)
    return [name for name, job in document["jobs"].items() if ran[name] and job.get("runs-on") != HOSTED]


def documents(place: str, option: str = "") -> list[Any]:
    """Return the workflows of a case, as GitHub reads them."""
    return [parsed(text) for text in workflows(written(place, option) or {}).values()]


each_case = pytest.mark.parametrize(("place", "option"), CASES)


def test_every_kind_of_runner_has_every_option_that_its_workflow_can_have() -> None:
    refused = {(kind, option) for kind in RUNNERS for option in OPTIONS if written(kind, option) is None}

    assert refused == {
        (OWN, option)
        for option, entry in OPTIONS.items()
        if entry.keys() & {"cpu", "matrix", "container", "paths", "reusable"}
    }


@each_case
def test_a_fork_gets_no_gpu_without_the_label(place: str, option: str) -> None:
    for document in documents(place, option):
        assert {name: jobs for name, contexts in UNASKED.items() if (jobs := on_gpu(document, contexts))} == {}
        assert set(document["on"]).isdisjoint({"workflow_run", "issue_comment", "issues"})


@each_case
def test_a_job_with_a_gpu_runs_only_what_the_maintainer_saw(place: str, option: str) -> None:
    for document in documents(place, option):
        for job in document["jobs"].values():
            names = [step["name"] for step in job.get("steps", ())]
            if "Check the GPU" in names:
                first, last = names.index("Check out"), names.index("Test")
                check = names.index("Check that this is the commit that got the label")
                assert names[0] == "Check the GPU"
                assert first + 1 == check < last


@pytest.mark.parametrize("kind", RUNNERS)
def test_a_label_starts_the_tests(kind: str) -> None:
    asked = event("pull_request", "labeled", "run-gpu-ci", fork=kind != OWN)

    assert any(on_gpu(document, asked) for document in documents(kind, "no option"))


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
    document = documents(stacks.AWS)[0]
    change(document["jobs"]["test"])

    assert any(on_gpu(document, contexts) for contexts in UNASKED.values())


@each_case
def test_a_workflow_permits_nothing_by_itself_and_ends_in_time(place: str, option: str) -> None:
    for document in documents(place, option):
        assert document["permissions"] == {}
        assert [
            name for name, job in document["jobs"].items() if "timeout-minutes" not in job and "uses" not in job
        ] == []


@each_case
def test_actions_are_pinned_and_scripts_have_no_expressions(place: str, option: str) -> None:
    for document in documents(place, option):
        steps = [step for job in document["jobs"].values() for step in job.get("steps", ())]
        used = [step["uses"] for step in steps if "uses" in step]

        assert [name for name in used if not re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", name)] == []
        assert [step["run"] for step in steps if "${{" in step.get("run", "")] == []
        assert [one for one in steps if "actions/checkout" in one.get("uses", "")
                if one["with"]["persist-credentials"] != "false"] == []  # fmt: skip


@each_case
def test_every_yaml_file_can_be_read_back(place: str, option: str) -> None:
    found = written(place, option) or {}

    assert [load_yaml(text, path) for path, text in found.items() if path.endswith((".yml", ".yaml"))] or not found
    assert [text for text in workflows(found).values() if not text.startswith("# Generated by gpu-ci.")] == []


@pytest.mark.parametrize("file", sorted(set(golden.originals().values())), ids=lambda file: file.name)
def test_the_workflows_equal_the_golden_files(file: Any) -> None:
    made = golden_workflows.workflows(file)
    kept = {path: path.read_text(encoding="utf-8") for path in (golden_workflows.FOLDER / file.stem).glob("*.yml")}

    assert kept == made, f"if the change is intended, run {golden.REGENERATE}"


def test_every_golden_workflow_has_a_stack_file() -> None:
    known = {file.stem for file in golden.originals().values()}

    assert {path.name for path in golden_workflows.FOLDER.iterdir()} <= known
    assert ROOT in golden_workflows.FOLDER.parents
