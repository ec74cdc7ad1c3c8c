"""Rules of `gpu-tests`: its runner exists, and the workflow of that runner has the options of the entry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpu_ci.knowledge.nearest import did_you_mean
from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.rules.stated import Reference, Rule, Stated
from gpu_ci.stack_file.sections.gpu_tests import GpuTestsSettings
from gpu_ci.stack_file.sections.settings import Settings

NOT_OWN: Final = ("cpu", "matrix", "container", "paths", "reusable", "skip_label", "smoke_schedule")
"""Options that a workflow which also starts its machine does not have."""


def gpu_tests_have_a_runner(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Look for the runner of each repository's tests."""
    known = stated.entries["runners"]
    for name, entry in settings.gpu_tests.items():
        path = f"gpu-tests.{name}"
        if entry.runner is not None and entry.runner not in known:
            yield Fault(f"{path}.runner", f'"{entry.runner}" is not in runners', did_you_mean(entry.runner, known))
        elif not known:
            yield Fault(path, "the stack has no runner", "state one in runners, or remove gpu-tests")


def runners_have_a_gpu(settings: Settings) -> Iterator[Fault]:
    """Reject tests on a runner without a GPU; of a faulty runner nothing is known."""
    with_gpu = [name for name, runner in settings.runners.items() if runner.needs.gpu]
    for name, entry in settings.gpu_tests.items():
        chosen = settings.runners.get(entry.runner or "")
        if chosen is not None and not chosen.needs.gpu:
            problem = f"{entry.runner} has no GPU"
            yield Fault(f"gpu-tests.{name}.runner", problem, did_you_mean(entry.runner or "", with_gpu))
        elif entry.runner is None and settings.runners and not with_gpu:
            problem = "no runner of the stack has a GPU"
            yield Fault(f"gpu-tests.{name}", problem, "state needs.gpu of a runner, or remove gpu-tests")


def labels_differ(settings: Settings) -> Iterator[Fault]:
    """Reject a label that both starts and skips the tests. GitHub ignores the case of labels."""
    for name, entry in settings.gpu_tests.items():
        if entry.run_label.casefold() == entry.skip_label.casefold():
            yield Fault(f"gpu-tests.{name}.skip-label", "is the same as run-label", "use two different labels")


def workflows_have_the_options(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Reject options that the workflow of a back end does not have, because it starts and stops one machine."""
    own = {
        name: any(section.OWN_WORKFLOW for section in runner.stated.values())
        for name, runner in settings.runners.items()
        if runner.needs.gpu
    }
    # A faulty runner may be the one that an entry without a runner uses.
    only = (
        next(iter(own), None) if all(own.values()) and len(settings.runners) == len(stated.entries["runners"]) else None
    )
    for name, entry in settings.gpu_tests.items():
        if not own.get(runner := entry.runner or only or ""):
            continue
        for option in NOT_OWN:
            if getattr(entry, option) != GpuTestsSettings.model_fields[option].get_default(call_default_factory=True):
                problem = f"the workflow of {runner}, which starts and stops its machine, has no such option"
                path = f"gpu-tests.{name}.{option.replace('_', '-')}"
                yield Fault(path, problem, "remove it, or name another runner")


RULES: Final[tuple[Rule, ...]] = (runners_have_a_gpu, labels_differ)
REFERENCES: Final[tuple[Reference, ...]] = (gpu_tests_have_a_runner, workflows_have_the_options)
