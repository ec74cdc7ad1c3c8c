"""The GPU tests of one repository: the choice of the runner, and what the workflow needs of the repository.

`kit.cirun_workflow` renders the workflow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from back_ends.registry import BACK_ENDS
from config.gpu_tests import GpuTestsSettings
from gpu.nearest import did_you_mean
from gpu.regions import Cloud
from gpu.verdict import Verdict, warning
from kit.cirun_workflow import GpuTests

if TYPE_CHECKING:
    from collections.abc import Iterable

    from back_ends.protocol import RunsOn
    from config.settings import Settings

PYTHON: Final = "3.12"
"""The version that uv installs by default."""
PLUGINS: Final = (
    ("pytest", re.compile(r"\bpytest\b")),
    ("pytest-cov", re.compile(r"\bpytest\b.*\s--cov\b")),
    ("pytest-xdist", re.compile(r"\bpytest\b.*\s(-n|--numprocesses)\b")),
)
"""Dependencies that a repository needs, and the commands that use them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A repository in a folder."""

    files: frozenset[str]
    """The names of `LOOKED_FOR` that exist in the folder."""
    lock: str = ""
    """The text of uv.lock."""


CHECK: Final = "gpu-tests"
LOOKED_FOR: Final = (".git", "pyproject.toml", "uv.lock")


def branches(settings: Settings) -> tuple[str, ...]:
    """Return the branches with reviewed code: pushes to all of them are tested, and images come from the first."""
    return settings.github_federation.branches if settings.github_federation is not None else ("main",)


def testable(settings: Settings) -> dict[str, RunsOn]:
    """Return the runners for the workflow: those that can be reserved for one run."""
    asked = {name: BACK_ENDS[runner.back_end].runs_on(name, runner) for name, runner in settings.runners.items()}
    return {name: one for name, one in asked.items() if one.suffix}


def gpu_tests(settings: Settings, repository: str | None, container: str | None) -> GpuTests | None:
    """Return the tests of `repository`, or the defaults without an entry; None if the stack has no runner for them."""
    runners = testable(settings)
    if not runners:
        return None
    stated = settings.gpu_tests.get(repository, GpuTestsSettings()) if repository else GpuTestsSettings()
    name = stated.runner if stated.runner is not None else next(iter(runners))
    if name not in runners:
        return None
    runner = settings.runners[name]
    offer = BACK_ENDS[runner.back_end].offer(name, runner, settings)
    return GpuTests(
        runner=runners[name].label,
        timeout_minutes=runner.timeout_minutes,
        gpus=runner.needs.gpus,
        branches=branches(settings),
        run_label=stated.run_label,
        skip_label=stated.skip_label,
        python=stated.python or PYTHON,
        install=stated.install,
        tests=stated.tests,
        codecov_flag=stated.codecov_flag,
        nightly=stated.nightly,
        container=container if offer.own is not None and offer.own.cloud is Cloud.GCP else None,
        switch=stated.switch,
    )


def taken_for_granted(tests: GpuTests, settings: Settings, repository: str | None, found: Found) -> tuple[Verdict, ...]:
    """Return a warning for everything that the workflow needs and the repository does not have."""
    path = f"gpu-tests.{repository or 'REPOSITORY'}"
    return (
        *_runner(tests, settings, repository, path),
        *_container(tests, settings, repository, path),
        *_lock(tests, path, found),
    )


def _runner(tests: GpuTests, settings: Settings, repository: str | None, path: str) -> Iterable[Verdict]:
    """Warn if another runner may be meant: the name may be misspelt, or the stack has several runners."""
    if repository is not None and settings.gpu_tests and repository not in settings.gpu_tests:
        yield warning(CHECK, path, "no such entry; the defaults are used", did_you_mean(repository, settings.gpu_tests))
    others = [name for name, asked in testable(settings).items() if asked.label != tests.runner]
    if others and (repository is None or repository not in settings.gpu_tests):
        yield warning(
            CHECK,
            f"{path}.runner",
            f"the workflow uses {tests.runner}; the stack also has {', '.join(others)}",
            f"state gpu-tests: {{{repository or 'REPOSITORY'}: {{runner: {others[0]}}}}} to use another",
        )


def _container(tests: GpuTests, settings: Settings, repository: str | None, path: str) -> Iterable[Verdict]:
    stated = settings.gpu_tests.get(repository) if repository is not None else None
    if tests.container is not None and stated is not None and stated.python is not None:
        yield warning(
            CHECK,
            f"{path}.python",
            f"the tests run in {tests.container}, which has its own Python",
            "remove it",
        )


def _lock(tests: GpuTests, path: str, found: Found) -> Iterable[Verdict]:
    """Warn of commands that uv or pytest would reject, before a job waits for a GPU."""
    commands = (*tests.install, *tests.tests)
    locked = next((command for command in commands if re.search(r"\buv\b.*--(locked|frozen)\b", command)), None)
    if not found.files:
        needs = [name for name, asked in PLUGINS if any(asked.search(command) for command in commands)]
        wanted = [*(["uv.lock"] if locked else []), *needs]
        if wanted:
            yield warning(
                CHECK,
                path,
                f"the folder is not a repository, so {', '.join(wanted)} could not be checked",
                "write into the repository, or check them there",
            )
    elif locked and "uv.lock" not in found.files:
        yield warning(
            CHECK,
            f"{path}.install",
            f"`{locked}` fails: the repository has no uv.lock",
            f"run `uv lock` and commit the file, or state other commands in {path}.install",
        )
    elif locked:
        for name, asked in PLUGINS:
            failing = next((command for command in commands if asked.search(command)), None)
            if failing and not re.search(rf'^name = "{name}"$', found.lock, re.MULTILINE):
                yield warning(
                    CHECK,
                    f"{path}.tests",
                    f"`{failing}` fails: uv.lock has no {name}",
                    f"run `uv add --dev {name}`, or state other commands in {path}.tests",
                )
