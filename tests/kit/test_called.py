"""Workflows that other workflows call are checked with the inputs of each call."""

from __future__ import annotations

from typing import Any, Final

import pytest

from gpu_ci.knowledge.verdict import Level
from ops.kit.runs_on import judge_all
from tests.kit.test_runs_on import job_on, runners

pytestmark = pytest.mark.pure

CALLED: Final = {
    "on": {
        "workflow_call": {"inputs": {"runner": {"type": "string", "default": "gpu-t4"}, "minutes": {"type": "number"}}}
    },
    "jobs": {"test": {"runs-on": "${{ inputs.runner }}", "timeout-minutes": "${{ inputs.minutes }}"}},
}


def calls(*jobs: Any, **workflows: Any) -> list[tuple[str, str]]:
    """Return the subject and the reason of each finding in a workflow that calls `gpu.yml`."""
    caller = {"on": "push", "jobs": {f"j{number}": job for number, job in enumerate(jobs)}}
    files = {"ci.yml": caller, "gpu.yml": CALLED, **workflows}
    found = judge_all({f".github/workflows/{name}": document for name, document in files.items()}, runners())
    return [(one.subject.replace(".github/workflows/", ""), one.reason) for one in found if one.level is not Level.OK]


def call(**inputs: Any) -> Any:
    return {"uses": "./.github/workflows/gpu.yml", "with": inputs}


def test_a_called_workflow_gets_the_inputs_of_the_call() -> None:
    assert calls(call(runner="gpu-t4-steady", minutes=240), call(minutes=60)) == []
    assert calls(call(minutes=240)) == [
        (
            "ci.yml: jobs.j0 → gpu.yml: jobs.test.timeout-minutes",
            "the job may take 240 minutes; gpu-t4 ends after 60",
        )
    ]
    assert calls(call(runner="gpu-tt4", minutes=60)) == [
        ("ci.yml: jobs.j0 → gpu.yml: jobs.test.runs-on", "no runner has the label gpu-tt4")
    ]


def test_an_input_may_be_a_list_in_json() -> None:
    listed = {"on": "workflow_call", "jobs": {"a": job_on("${{ fromJSON(inputs.labels) }}")}}
    uses = "./.github/workflows/listed.yml"

    assert (
        calls(
            {"uses": uses, "with": {"labels": '["self-hosted", "linux"]'}}, call(minutes=60), **{"listed.yml": listed}
        )
        == []
    )
    assert calls(
        {"uses": uses, "with": {"labels": '["self-hosted", "gpu"'}}, call(minutes=60), **{"listed.yml": listed}
    ) == [
        (
            "ci.yml: jobs.j0 → listed.yml: jobs.a.runs-on",
            "${{ fromJSON(inputs.labels) }} is only known when the workflow runs, so the runner cannot be checked",
        )
    ]


def test_a_matrix_calls_with_each_of_its_values() -> None:
    called = {**call(runner="${{ matrix.r }}", minutes=60), "strategy": {"matrix": {"r": ["gpu-t4", "gpu-tt4"]}}}

    assert [reason for _, reason in calls(called)] == ["no runner has the label gpu-tt4"]


def test_a_workflow_that_is_only_called_is_not_checked_without_its_inputs() -> None:
    assert calls(call(minutes=60)) == []
    assert [subject for subject, _ in calls({"runs-on": "ubuntu-24.04"})] == ["gpu.yml: jobs.test.timeout-minutes"]


def test_workflows_that_call_each_other_do_not_loop() -> None:
    circle = {"on": ["push", "workflow_call"], "jobs": {"a": {"uses": "./.github/workflows/circle.yml"}}}

    assert calls(call(minutes=60), **{"circle.yml": circle}) == [
        ("circle.yml: jobs.a.uses", "./.github/workflows/circle.yml calls itself; GitHub rejects the file")
    ]
