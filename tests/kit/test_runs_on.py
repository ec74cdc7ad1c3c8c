"""Workflows of a repository are checked against the runners of a stack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_ci.knowledge.verdict import Level
from gpu_ci.repository.documents import FileError, load_yaml
from gpu_ci.stack_file.identity import Identity
from ops.cli import main as cli
from ops.cli.options import ROOT
from ops.kit import stack as kit
from ops.kit.runs_on import judge, judge_all
from ops.kit.served import Served, served, shown
from tests.stack_file import stacks

pytestmark = pytest.mark.pure

RUN: Final = "${{ github.run_id }}"
CHANGES: Final[dict[str, Any]] = {
    "runners/gpu-t4-steady/arc/labels": ["self-hosted", "linux"],
    "runners/gpu-a10g": {
        "needs": {"gpu": "t4", "cpu": 3, "memory": "12Gi", "cuda": "12.9"},
        "timeout-minutes": 400,
        "arc": {"pool": "t4-spot", "max": 1, "image": "runner-gpu", "container-mode": "kubernetes-novolume"},
    },
}


def runners() -> tuple[Served, ...]:
    return served(stacks.settings(stacks.STAGING, CHANGES))


def findings(job: Any) -> list[tuple[str, str, str]]:
    """Return the level, the key of the job, and the reason with the fix of each finding."""
    return [
        (str(one.level), one.subject.removeprefix("w.yml: jobs.a."), f"{one.reason}; {one.fix}")
        for one in judge("w.yml", {"jobs": {"a": job}}, runners())
        if one.level is not Level.OK
    ]


def job_on(stated: Any, **more: Any) -> Any:
    return {"runs-on": stated, "timeout-minutes": 30, **more}


@pytest.mark.parametrize(
    "job",
    [
        pytest.param(job_on("gpu-t4"), id="a scale set by its name"),
        pytest.param(job_on(["gpu-t4"]), id="a list of its name alone"),
        pytest.param(job_on({"group": "GPU", "labels": "gpu-t4"}), id="a group and its name"),
        pytest.param(job_on({"group": "any", "labels": "cirun-gcp-gpu"}), id="a group that the service may choose"),
        pytest.param(
            job_on({"group": "${{ matrix.g }}", "labels": "gpu-t4"}, strategy={"matrix": {"g": ["gpu"]}}),
            id="a matrix of groups",
        ),
        pytest.param(job_on({"labels": ["gpu-t4"]}), id="labels"),
        pytest.param(job_on(["self-hosted", "linux", "gpu-t4-steady"]), id="labels that the scale set states"),
        pytest.param(job_on(["self-hosted", "linux"]), id="stated labels without the name"),
        pytest.param(job_on("cirun-gcp-gpu"), id="cirun's label"),
        pytest.param(job_on(f"cirun-gcp-gpu--{RUN}"), id="cirun's label for one run"),
        pytest.param(job_on(["self-hosted", f"cirun-gcp-gpu--{RUN}"]), id="what cirun adds to every runner"),
        pytest.param({"runs-on": "ubuntu-24.04"}, id="hosted by GitHub"),
        pytest.param({"runs-on": "windows-latest"}, id="Windows"),
        pytest.param({"runs-on": "macos-15-xlarge"}, id="a larger macOS"),
        pytest.param({"runs-on": "gpu-a10g", "container": "python:3.12"}, id="longer than GitHub's own limit"),
        pytest.param(job_on("${{ matrix.r }}", strategy={"matrix": {"r": ["gpu-t4", "ubuntu-24.04"]}}), id="a matrix"),
        pytest.param(
            job_on("${{ matrix.r }}", strategy={"matrix": {"r": [f"cirun-gcp-gpu--{RUN}"]}}), id="a matrix of suffixes"
        ),
        pytest.param(
            {
                "runs-on": "${{ matrix.r }}",
                "timeout-minutes": "${{ matrix.t }}",
                "strategy": {"matrix": {"include": [{"r": "gpu-t4", "t": 60}, {"r": "gpu-t4-steady", "t": 240}]}},
            },
            id="a time for each runner",
        ),
        pytest.param(job_on("gpu-t4", container="${{ inputs.image }}"), id="a container that may be none"),
    ],
)
def test_a_job_with_a_runner_passes(job: Any) -> None:
    assert findings(job) == []


@pytest.mark.parametrize(
    ("job", "level", "where", "words"),
    [
        pytest.param(job_on("gpu-tt4"), "error", "runs-on", 'did you mean "gpu-t4"?', id="nearly a name"),
        pytest.param(
            job_on("gcp-gpu"), "error", "runs-on", 'did you mean "cirun-gcp-gpu"?', id="without cirun's prefix"
        ),
        pytest.param(
            job_on(["self-hosted", "gpu-t4"]), "error", "runs-on", "write runs-on: gpu-t4", id="self-hosted in addition"
        ),
        pytest.param(
            job_on(f"gpu-t4--{RUN}"),
            "error",
            "runs-on",
            "accepts no text after two hyphens",
            id="a suffix for a scale set",
        ),
        pytest.param(
            job_on(["fast", "cirun-gcp-gpu"]),
            "error",
            "runs-on",
            "no runner has fast in addition to cirun-gcp-gpu",
            id="another label with cirun's",
        ),
        pytest.param(job_on("gpu-l4"), "error", "runs-on", "write one of them. If it is", id="another GPU"),
        pytest.param(
            job_on(["self-hosted", "x64", "gpu"]),
            "error",
            "runs-on",
            "of GitHub has self-hosted, x64, gpu, so the job waits for a day and then fails; this stack has the runners "
            "cirun-gcp-gpu, gpu-t4, gpu-t4-steady, gpu-a10g: write one of them, or state "
            "runners.gpu-t4.arc.labels: [self-hosted, x64, gpu]. ",
            id="labels of none",
        ),
        pytest.param(
            job_on(["self-hosted", "x64"]),
            "error",
            "runs-on",
            "of GitHub has self-hosted, x64",
            id="labels that cirun adds",
        ),
        pytest.param(
            job_on("${{ inputs.r }}"), "warning", "runs-on", "only known when the workflow runs", id="an input"
        ),
        pytest.param(job_on("${{ matrix.r }}"), "warning", "runs-on", "${{ matrix.r }} is only known", id="no matrix"),
        pytest.param(job_on({"group": "gpu"}), "warning", "runs-on", "only a group", id="a group alone"),
        pytest.param(
            job_on({"group": "default", "labels": "gpu-t4"}),
            "error",
            "runs-on.group",
            "the group default does not have gpu-t4, so the job waits",
            id="another group",
        ),
        pytest.param(
            job_on({"group": "${{ inputs.g }}", "labels": "gpu-t4"}),
            "warning",
            "runs-on",
            "${{ inputs.g }} is only known",
            id="an input for a group",
        ),
        pytest.param(job_on({"group": ["gpu"]}), "error", "runs-on", "is not the name", id="a list of groups"),
        pytest.param(
            {"uses": "other/repository/.github/workflows/gpu.yml@0123abc"},
            "warning",
            "uses",
            "in another repository, so its jobs are not checked",
            id="a workflow of another repository",
        ),
        pytest.param(
            {"uses": "actions/checkout@v7"}, "error", "uses", "is not the path of a workflow", id="an action for a job"
        ),
        pytest.param(
            {"uses": "./.github/workflows/gpu.yml@main"},
            "error",
            "uses",
            "is not the path",
            id="a local workflow by ref",
        ),
        pytest.param(
            {"uses": "./.github/workflows/gpu.yml"}, "error", "uses", "there is no workflow", id="a missing workflow"
        ),
        pytest.param({"steps": []}, "error", "runs-on", "has no runs-on", id="no runs-on"),
        pytest.param(job_on(5), "error", "runs-on", "5 is not the name", id="a number"),
        pytest.param(job_on(["gpu-t4", ""]), "error", "runs-on", "is not the name", id="an empty label"),
        pytest.param(
            job_on("gpu-t4", **{"timeout-minutes": 61}), "error", "timeout-minutes", "61 minutes", id="too long"
        ),
        pytest.param({"runs-on": "gpu-t4"}, "warning", "timeout-minutes", "GitHub's default is 360", id="no time"),
        pytest.param(
            job_on("gpu-t4", **{"timeout-minutes": "60"}),
            "error",
            "timeout-minutes",
            "60 is not a number",
            id="a string",
        ),
        pytest.param(
            job_on("gpu-t4", **{"timeout-minutes": True}), "error", "timeout-minutes", "is not a number", id="a boolean"
        ),
        pytest.param(
            job_on("gpu-t4", **{"timeout-minutes": "${{ inputs.t }}"}),
            "warning",
            "timeout-minutes",
            "only known when",
            id="an input for a time",
        ),
        pytest.param(job_on("gpu-t4", container="x"), "error", "container", "gpu-t4 has no Docker", id="a container"),
        pytest.param(job_on("gpu-t4", services={"db": {}}), "error", "services", "has no Docker", id="services"),
        pytest.param(
            job_on("cirun-gcp-gpu", container={"image": "x", "options": "--cpus 1"}),
            "warning",
            "container",
            "add options: --gpus all",
            id="a container without a GPU",
        ),
        pytest.param(job_on("gpu-a10g"), "error", "container", "add container: IMAGE", id="no container"),
        pytest.param(
            job_on("${{ matrix.r }}", strategy={"matrix": {"r": ["gpu-t4", "gpu-tt4"]}}),
            "error",
            "runs-on",
            "no runner has the label gpu-tt4",
            id="one value of a matrix",
        ),
    ],
)
def test_a_job_with_a_problem_gets_its_key_the_reason_and_the_fix(job: Any, level: str, where: str, words: str) -> None:
    ((found, subject, text),) = findings(job)

    assert (found, subject) == (level, where)
    assert words in text


@pytest.mark.parametrize("document", [None, [], "text", {}, {"jobs": None}, {"jobs": {}}, {"jobs": ["a"]}])
def test_a_document_without_jobs_is_an_error(document: Any) -> None:
    (verdict,) = judge("w.yml", document, runners())

    assert (verdict.level, verdict.subject) == (Level.ERROR, "w.yml: jobs")


PLAIN = st.sampled_from([None, True, 0, 1.5, "", "gpu-t4", "self-hosted", "${{ matrix.a }}", "a--b", "\ud800", "${{"])
KEYS = st.sampled_from(["jobs", "a", "runs-on", "strategy", "matrix", "include", "exclude", "labels", "group"]) | PLAIN
DOCUMENTS = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
JOBS = st.fixed_dictionaries(
    {},
    optional={
        "runs-on": DOCUMENTS,
        "timeout-minutes": DOCUMENTS,
        "container": DOCUMENTS,
        "strategy": DOCUMENTS | st.fixed_dictionaries({"matrix": st.dictionaries(KEYS, DOCUMENTS, max_size=3)}),
    },
)


@settings(max_examples=150, deadline=None)
@given(DOCUMENTS | st.fixed_dictionaries({"jobs": st.dictionaries(KEYS, JOBS | DOCUMENTS, max_size=3)}))
def test_no_document_raises(document: Any) -> None:
    verdicts = judge("w.yml", document, runners())

    assert verdicts
    assert all(f"{one.subject}{one.reason}{one.fix}".isprintable() for one in verdicts)


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="abj:os-[]{}&*!<\"'\n \t#|>?%@`0\\", max_size=60))
def test_no_text_raises(text: str) -> None:
    try:
        document = load_yaml(text, "w.yml")
    except FileError:
        document = None

    assert judge("w.yml", document, runners())


@pytest.mark.parametrize("name", stacks.FILES)
def test_the_workflows_of_the_kit_pass(name: str) -> None:
    stated = stacks.settings(name)
    for repository in stated.gpu_tests or [None]:
        written = kit.files(stated, Identity(project="gpu-ci", stack="staging"), repository=repository)
        workflows = {
            path: load_yaml(text, path) for path, text in written.items() if path.startswith(".github/workflows/")
        }

        assert {str(one) for one in judge_all(workflows, served(stated)) if one.level is not Level.OK} == set()


def checkout(folder: Path, **workflows: str) -> Path:
    where = folder / ".github" / "workflows"
    where.mkdir(parents=True)
    for name, text in workflows.items():
        (where / f"{name}.yml").write_text(text, encoding="utf-8")
    return folder


def ran(folder: Path, *more: str) -> int:
    return cli.run(["workflows", str(folder), "--file", str(ROOT / stacks.STAGING), *more])


GOOD = "on: push\njobs: {a: {runs-on: gpu-t4, timeout-minutes: 60}, b: {runs-on: ubuntu-24.04}}\n"


def test_a_checkout_without_problems_exits_with_0_and_a_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(checkout(tmp_path, one=GOOD, two=GOOD)) == 0
    assert "2 workflows checked against staging.yaml: 4 jobs served, no errors, no warnings." in capsys.readouterr().out


def test_a_finding_exits_with_1_and_names_the_file_and_the_job(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = checkout(tmp_path, one=GOOD, two=GOOD.replace("gpu-t4,", "gpu-tt4,"), three="jobs: [\n")

    assert ran(folder) == 1
    printed = capsys.readouterr().out
    assert (
        'error .github/workflows/two.yml: jobs.a.runs-on: no runner has the label gpu-tt4; did you mean "gpu-t4"?'
        in printed
    )
    assert "error .github/workflows/three.yml: line 2, column 1: a value is missing here" in printed


def test_labels_of_other_runners_are_accepted_where_they_are_stated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "jobs: {a: {runs-on: big}, b: {runs-on: {group: Large, labels: x}}, c: {runs-on: [ubuntu-24.04, big]}}\n"

    assert ran(checkout(tmp_path, one=text)) == 1
    assert "add --also big\n" in capsys.readouterr().out
    assert ran(tmp_path, "--also", "BIG, large") == 0


def test_a_workflow_that_cannot_be_read_is_reported_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    caller = "on: push\njobs: {a: {uses: ./.github/workflows/broken.yml}}\n"

    assert ran(checkout(tmp_path, caller=caller, broken="jobs: [\n")) == 1
    assert capsys.readouterr().out.count("error ") == 1


def test_a_folder_without_workflows_exits_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(tmp_path) == 2
    assert "name the checkout of a repository" in capsys.readouterr().err


def test_the_verdicts_are_written_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(checkout(tmp_path, one="jobs: {a: {runs-on: gpu-t4}}\n"), "--json", "-") == 0
    (verdict,) = json.loads(capsys.readouterr().out)
    assert (verdict["level"], verdict["subject"]) == ("warning", ".github/workflows/one.yml: jobs.a.timeout-minutes")


def test_a_workflow_that_is_not_utf_8_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = checkout(tmp_path)
    (folder / ".github" / "workflows" / "latin.yaml").write_bytes("# é".encode("latin-1"))

    assert ran(folder) == 1
    assert "latin.yaml: line 1, column 3: the byte 0xe9 is not UTF-8" in capsys.readouterr().out


def test_control_characters_are_escaped(tmp_path: Path) -> None:
    text = yaml.safe_dump({"jobs": {"\x1b[2J": {"runs-on": "\x07"}}})

    assert ran(checkout(tmp_path, one=text)) == 1
    assert shown("\x1b[2J\ud800") == r"\x1b[2J\ud800"
