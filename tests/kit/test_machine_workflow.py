"""The workflow of a repository whose tests run on one machine: triggers, jobs, environments, cache and first tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest
import yaml

from gpu_ci.back_ends.stack_file import Settings as StackSettings
from gpu_ci.repository.gpu_workflow import TESTS_FILE
from gpu_ci.repository.python_environment import ENVIRONMENT_FILE
from gpu_ci.stack_file.identity import Identity
from gpu_ci.stack_file.reading.settle import settle
from ops.kit import stack as kit
from tests.stack_file import stacks

pytestmark = pytest.mark.pure

STACK: Final = "examples/vm-aws.yaml"
SMOKE_FILE: Final = "tests/test_gpu_smoke.py"


def written(entry: Mapping[str, Any], needs: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return the files for an entry of `gpu-tests`, with a runner that states more needs."""
    raw = stacks.sections(STACK, {"gpu-tests": {"vision": dict(entry)}})
    raw["runners"]["gpu-vm"]["needs"].update(needs or {})
    assert stacks.faults(raw) == []
    return kit.files(settle(raw, StackSettings)[0], Identity(project="gpu-ci", stack="vm"), repository="vision")


def workflow(entry: Mapping[str, Any]) -> Any:
    """Return the workflow for an entry of `gpu-tests`."""
    return yaml.load(written(entry)[TESTS_FILE], Loader=yaml.BaseLoader)  # noqa: S506 - keeps `on` a word


def test_changes_of_the_stated_files_start_the_tests_and_so_does_a_person() -> None:
    started = workflow({"paths": ["apps/training/**", "Makefile"]})["on"]

    assert started["push"]["paths"] == started["pull_request"]["paths"] == ["apps/training/**", "Makefile"]
    assert "workflow_dispatch" in started


def test_the_job_on_the_cpu_always_runs_and_the_one_on_the_gpu_needs_the_variable() -> None:
    jobs = workflow({"paths": ["src/**"], "cpu": ["make test"]})["jobs"]

    assert jobs["cpu"]["runs-on"].startswith("ubuntu-")
    assert "if" not in jobs["cpu"]
    assert jobs["cpu"]["steps"][-1]["run"] == "make test\n"
    assert jobs["test"]["runs-on"] == ["self-hosted", "linux", "x64", "gpu", "gpu-vm"]
    assert jobs["test"]["if"].startswith("vars.ENABLE_GPU_SMOKE == 'true' &&")


def test_the_job_on_the_gpu_checks_the_gpu_sets_up_python_and_tests() -> None:
    job = workflow({"tool": "micromamba", "tests": ["make smoke"]})["jobs"]["test"]
    names = [step["name"] for step in job["steps"]]

    assert names[:2] == ["Check the GPU", "Check out"]
    assert "if command -v nvcc >/dev/null; then nvcc --version; fi" in job["steps"][0]["run"]
    assert names[-2:] == ["Set up micromamba", "Test"]
    assert job["steps"][-1]["run"] == "make smoke\n"
    assert job["timeout-minutes"] == "60"


def test_micromamba_installs_the_stated_versions_for_the_cuda_of_the_runner() -> None:
    files = written({"tool": "micromamba", "python": "3.12"}, {"torch": "2.9.1", "onnxruntime": "1.26"})
    environment = yaml.safe_load(files[ENVIRONMENT_FILE])
    setup = next(
        step for step in yaml.safe_load(files[TESTS_FILE])["jobs"]["test"]["steps"] if "micromamba" in step["name"]
    )
    *packages, last = environment["dependencies"]

    assert packages[0] == "python=3.12"
    assert {"torch==2.9.1+cu128", "onnxruntime-gpu==1.26"} <= set(last["pip"])
    assert any(package.startswith("transformers>=4.56.1") for package in last["pip"])
    assert any(package.startswith("tokenizers>=0.22") for package in last["pip"])
    assert setup["with"]["environment-file"] == ENVIRONMENT_FILE


def test_ccache_is_the_compiler_keeps_ten_gigabytes_and_prints_its_use() -> None:
    job = workflow({"ccache": True, "cache": "actions"})["jobs"]["test"]
    steps = {step["name"]: step for step in job["steps"]}

    assert (job["env"]["CC"], job["env"]["CXX"]) == ("ccache gcc", "ccache g++")
    assert "ccache --max-size 10G\nccache --zero-stats\n" in steps["Start ccache"]["run"]
    assert steps["Show the use of ccache"]["run"] == "ccache --show-stats"
    assert "~/.cache/ccache" in steps["Restore and save the caches"]["with"]["path"]
