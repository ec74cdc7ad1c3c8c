"""The workflows that a repository gets, through GitHub's grammar and through a security linter."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import yaml

from kit.gpu_workflow import TESTS_FILE, GpuTests, workflows
from tests.artefacts.linters import NOTHING_FOUND, linter, zizmor

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.artefacts

RUNS_ON = 'runs-on: "cirun-gpu-t4--${{ github.run_id }}-${{ github.run_attempt }}"'
TESTS = GpuTests(runner="cirun-gpu-t4", runs_on=RUNS_ON, suffix=True)
FORMS = {
    "plain": TESTS,
    "full": replace(
        TESTS, codecov_flag="gpu", nightly="17 3 * * *", switch="ENABLE_GPU", branches=("main", "[0-9]+.x")
    ),
    "container": replace(TESTS, container="us-central1-docker.pkg.dev/gpu-test-runners/gpu-tests/gpu-tests:2026.11.1"),
    "own commands": replace(
        TESTS,
        python="3.14",
        install=(),
        tests=("make -C tests 'gpu' | tee \"$RUNNER_TEMP/log\"", "key: value", 'true && [ -n "$CI" ]', "! false"),
        run_label="run gpu",
        skip_label="skip gpu",
    ),
}


@pytest.fixture(params=FORMS)
def repository(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    for path, text in workflows(FORMS[request.param]).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


def test_commands_stand_in_the_workflow_as_they_were_stated() -> None:
    tests = FORMS["own commands"]
    job = yaml.safe_load(workflows(tests)[TESTS_FILE])["jobs"]["test"]

    assert job["steps"][-1]["run"] == "".join(f"{command}\n" for command in tests.tests)


def test_the_workflows_pass_actionlint(repository: Path) -> None:
    result = subprocess.run([linter("actionlint")], cwd=repository, capture_output=True, text=True, check=False)

    assert (result.returncode, result.stdout) == (0, "")


def test_the_workflows_pass_zizmor(repository: Path) -> None:
    assert zizmor(repository, ".github/workflows") == NOTHING_FOUND
