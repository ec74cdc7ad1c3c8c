"""The workflows that test on a GPU, read as GitHub reads them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from gpu_ci.repository.documents import FileError
from gpu_ci.repository.gpu_workflow import TESTS_FILE, TRIAGE_FILE, GpuTests, workflows

pytestmark = pytest.mark.pure

RUNS_ON = 'runs-on: "cirun-gpu-t4--${{ github.run_id }}-${{ github.run_attempt }}"'
TESTS = GpuTests(runner="cirun-gpu-t4", runs_on=RUNS_ON, suffix=True)
FULL = replace(TESTS, codecov_flag="gpu", nightly="17 3 * * *", switch="ENABLE_GPU", branches=("main", "[0-9]+.x"))


def parsed(tests: GpuTests, path: str) -> Any:
    return yaml.load(workflows(tests)[path], Loader=yaml.BaseLoader)  # noqa: S506 - keeps `on` a word


def steps(tests: GpuTests, path: str) -> list[dict[str, Any]]:
    return [step for job in parsed(tests, path)["jobs"].values() for step in job["steps"]]


def test_only_the_triage_can_write_and_it_runs_no_code_of_the_pull_request() -> None:
    writing = {
        path: [name for name, job in parsed(FULL, path)["jobs"].items() if "write" in job["permissions"].values()]
        for path in (TESTS_FILE, TRIAGE_FILE)
    }

    assert writing == {TESTS_FILE: [], TRIAGE_FILE: ["triage"]}
    assert [step for step in steps(FULL, TRIAGE_FILE) if "uses" in step] == []
    assert "--remove-label" in steps(FULL, TRIAGE_FILE)[0]["run"]


def test_each_attempt_of_each_run_has_its_own_runner() -> None:
    assert parsed(TESTS, TESTS_FILE)["jobs"]["test"]["runs-on"] == (
        "cirun-gpu-t4--${{ github.run_id }}-${{ github.run_attempt }}"
    )


def test_every_job_has_the_expected_timeout() -> None:
    bounds = {
        name: job["timeout-minutes"]
        for path in (TESTS_FILE, TRIAGE_FILE)
        for name, job in parsed(replace(TESTS, timeout_minutes=45), path)["jobs"].items()
    }

    assert bounds == {"test": "45", "check": "75", "triage": "5"}


def test_the_timeout_of_a_github_hosted_job_is_at_most_six_hours() -> None:
    check = parsed(replace(TESTS, timeout_minutes=1440), TESTS_FILE)["jobs"]["check"]

    assert check["timeout-minutes"] == "360"


def test_the_whole_history_is_checked_out_and_a_failed_command_fails_its_step() -> None:
    job = parsed(TESTS, TESTS_FILE)["jobs"]["test"]
    (checkout,) = [step["with"] for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")]

    assert (checkout["fetch-depth"], checkout["persist-credentials"]) == ("0", "false")
    # GitHub runs `bash` with -eo pipefail.
    assert job["defaults"]["run"]["shell"] == "bash"


@pytest.mark.parametrize(
    ("tests", "fault"),
    [
        (replace(TESTS, runs_on="runs-on: gpu\n    if: true"), "runs_on"),
        (replace(TESTS, runs_on='runs-on: "cirun-gpu--${{ github.head_ref }}"'), "runs_on"),
        (replace(TESTS, paths=('a"',)), "paths"),
        (replace(TESTS, env={"A": '"'}), "env.A"),
        (replace(TESTS, job_container="ubuntu"), "job_container"),
        (replace(TESTS, cpu=("${{ github.head_ref }}",)), "cpu"),
        (replace(TESTS, run_label="x' || true || '"), "run_label"),
        (replace(TESTS, run_label="skip-gpu-ci"), "use two different labels"),
        (replace(TESTS, branches=('main"',)), "branches"),
        (replace(TESTS, python="3.12; rm"), "python"),
        (replace(TESTS, nightly="daily"), "five cron fields"),
        (replace(TESTS, switch="enable gpu"), "switch"),
    ],
)
def test_a_value_that_breaks_the_yaml_is_refused(tests: GpuTests, fault: str) -> None:
    with pytest.raises(FileError) as error:
        workflows(tests)

    assert fault in str(error.value)
