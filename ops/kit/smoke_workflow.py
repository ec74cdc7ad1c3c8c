"""The workflow that proves every runner with a machine of its own, started by hand or on a schedule.

No pull request starts it, so no code of a fork runs.
"""

from __future__ import annotations

from typing import Final

from components.kubernetes.gpus.smoke_job import PROGRAM
from gpu_ci.back_ends.registry import BACK_ENDS
from gpu_ci.derived.gpu_tests import testable
from gpu_ci.repository.actions import CHECKOUT, UV, UV_SHA256
from gpu_ci.repository.gpu_workflow import PYTHON
from gpu_ci.repository.render import render
from gpu_ci.stack_file.sections.gpu_tests import GpuTestsSettings
from gpu_ci.stack_file.sections.settings import Settings
from ops.kit.folder import MARK
from ops.kit.scripts import ORT_FILE, VERIFY_FILE

WORKFLOW_FILE: Final = ".github/workflows/gpu-smoke.yml"
PROGRAM_FILE: Final = ".github/gpu-tests/smoke_check.py"
MINUTES: Final = 30
"""Minutes of one job: PyTorch with CUDA is several GiB."""
# renovate: datasource=pypi depName=torch
TORCH: Final = "2.9.1"


def smoke_files(settings: Settings, repository: str | None) -> dict[str, str]:
    """Return the workflow and its program, by path; none unless the entry of `gpu-tests` asks for them."""
    stated = settings.gpu_tests.get(repository or "", GpuTestsSettings())
    if not stated.smoke_test:
        return {}
    jobs = []
    for name, asked in testable(settings).items():
        runner = settings.runners[name]
        if runner.needs.gpu and BACK_ENDS[runner.back_end].offer(name, runner, settings).own is not None:
            minutes = min(MINUTES, runner.timeout_minutes)
            job = {"name": name, "runs_on": asked.line, "gpus": runner.needs.gpus, "minutes": minutes}
            jobs.append({**job, "onnxruntime": runner.needs.onnxruntime})
    if not jobs:
        return {}
    workflow = render(
        "gpu-smoke.yml.j2",
        jobs=jobs,
        schedule=stated.smoke_schedule,
        checkout=CHECKOUT,
        uv=UV,
        uv_sha256=UV_SHA256,
        python=PYTHON,
        torch=TORCH,
        verify=VERIFY_FILE,
        ort=ORT_FILE,
        program=PROGRAM_FILE,
    )
    header = f"# {MARK}. The exit code names the step that failed; see docs/runbook.md of gpu-ci.\n"
    return {WORKFLOW_FILE: workflow, PROGRAM_FILE: header + PROGRAM.read_text(encoding="utf-8")}
