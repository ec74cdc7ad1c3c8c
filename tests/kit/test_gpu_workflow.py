"""The workflows that test on a GPU, read as GitHub reads them."""

from __future__ import annotations

import re
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


@pytest.mark.parametrize("tests", [TESTS, FULL])
def test_every_action_is_pinned_by_its_commit(tests: GpuTests) -> None:
    used = [step["uses"] for path in (TESTS_FILE, TRIAGE_FILE) for step in steps(tests, path) if "uses" in step]

    assert used
    assert [name for name in used if not re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", name)] == []


@pytest.mark.parametrize("path", [TESTS_FILE, TRIAGE_FILE])
def test_the_workflow_has_no_default_permissions(path: str) -> None:
    assert parsed(TESTS, path)["permissions"] == {}


def test_only_the_triage_can_write_and_it_runs_no_code_of_the_pull_request() -> None:
    writing = {
        path: [name for name, job in parsed(FULL, path)["jobs"].items() if "write" in job["permissions"].values()]
        for path in (TESTS_FILE, TRIAGE_FILE)
    }

    assert writing == {TESTS_FILE: [], TRIAGE_FILE: ["triage"]}
    assert [step for step in steps(FULL, TRIAGE_FILE) if "uses" in step] == []
    assert "--remove-label" in steps(FULL, TRIAGE_FILE)[0]["run"]


def test_a_fork_never_runs_with_the_token_of_the_base_repository() -> None:
    assert "pull_request_target" not in parsed(FULL, TESTS_FILE)["on"]


def test_no_script_contains_an_expression() -> None:
    scripts = [step["run"] for path in (TESTS_FILE, TRIAGE_FILE) for step in steps(FULL, path) if "run" in step]

    assert [script for script in scripts if "${{" in script] == []


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


def test_the_first_step_queries_the_gpu_and_can_fail() -> None:
    first = parsed(replace(TESTS, gpus=2), TESTS_FILE)["jobs"]["test"]["steps"][0]

    assert first["env"]["EXPECTED"] == "2"
    assert "nvidia-smi --query-gpu=" in first["run"]
    assert "||" not in first["run"]


def test_the_whole_history_is_checked_out_and_a_failed_command_fails_its_step() -> None:
    job = parsed(TESTS, TESTS_FILE)["jobs"]["test"]
    (checkout,) = [step["with"] for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")]

    assert (checkout["fetch-depth"], checkout["persist-credentials"]) == ("0", "false")
    # GitHub runs `bash` with -eo pipefail.
    assert job["defaults"]["run"]["shell"] == "bash"


def test_options_that_are_not_stated_are_not_in_the_workflow() -> None:
    document = parsed(TESTS, TESTS_FILE)

    assert "schedule" not in document["on"]
    assert "vars." not in document["jobs"]["test"]["if"]
    assert "codecov" not in workflows(TESTS)[TESTS_FILE]


def test_stated_options_are_in_the_workflow() -> None:
    document = parsed(FULL, TESTS_FILE)

    assert document["on"]["schedule"] == [{"cron": "17 3 * * *"}]
    assert document["jobs"]["test"]["if"].startswith("vars.ENABLE_GPU == 'true' &&")
    assert document["on"]["push"]["branches"] == ["main", "[0-9]+.x"]
    assert document["jobs"]["test"]["steps"][-1]["with"]["flags"] == "gpu"


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
