"""The runner of each repository's GPU tests."""

from __future__ import annotations

from gpu_ci.back_ends.protocol import RunsOn
from gpu_ci.back_ends.registry import BACK_ENDS
from gpu_ci.stack_file.sections.gpu_tests import GpuTestsSettings
from gpu_ci.stack_file.sections.settings import Settings


def testable(settings: Settings) -> dict[str, RunsOn]:
    """Return the runners with a GPU whose back end does not write a workflow of its own."""
    return {
        name: BACK_ENDS[runner.back_end].runs_on(name, runner)
        for name, runner in settings.runners.items()
        if runner.needs.gpu and not any(section.OWN_WORKFLOW for section in runner.stated.values())
    }


def runner_of(entry: GpuTestsSettings, settings: Settings) -> str | None:
    """Return the runner of an entry: the stated one, or the first; None for a stack without runners."""
    return entry.runner or next(iter(testable(settings) or settings.runners), None)
