"""From the stack file to what one repository tests on a GPU, and what that takes for granted of the repository.

Owns the choice of the runner and the judgement of a repository as it is found; what the workflow looks like is
`kit.cirun_workflow`'s.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from config.cirun import cirun_label
from config.gpu_tests import GpuTestsSettings
from gpu.nearest import did_you_mean
from gpu.verdict import Level, Verdict
from kit.cirun_workflow import GpuTests

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from config.settings import Settings
    from kit.cirun_runners import GpuRunner

PYTHON: Final = "3.12"
"""What uv sets up where nothing is stated."""
PLUGINS: Final = (
    ("pytest", re.compile(r"\bpytest\b")),
    ("pytest-cov", re.compile(r"\bpytest\b.*\s--cov\b")),
    ("pytest-xdist", re.compile(r"\bpytest\b.*\s(-n|--numprocesses)\b")),
)
"""What has to be among a repository's dependencies, and the commands that ask for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A repository as it lies in a folder."""

    files: frozenset[str]
    """The names in it that were looked for and are there, of `LOOKED_FOR`."""
    lock: str = ""
    """The text of uv.lock."""


LOOKED_FOR: Final = (".git", "pyproject.toml", "uv.lock")


def gpu_tests(
    settings: Settings,
    runners: Sequence[GpuRunner],
    repository: str | None,
    branches: tuple[str, ...],
    container: str | None,
) -> GpuTests:
    """What `repository` tests, on one of `runners`; what any repository does where it has no entry."""
    stated = settings.gpu_tests.get(repository, GpuTestsSettings()) if repository else GpuTestsSettings()
    label = cirun_label(stated.runner) if stated.runner is not None else runners[0].labels[0]
    runner = next(one for one in runners if label in one.labels)
    needs = next(one.needs for name, one in settings.runners.items() if cirun_label(name) in runner.labels)
    return GpuTests(
        runner=label,
        timeout_minutes=runner.timeout_minutes,
        gpus=needs.gpus,
        branches=branches,
        run_label=stated.run_label,
        skip_label=stated.skip_label,
        python=stated.python or PYTHON,
        install=stated.install,
        tests=stated.tests,
        codecov_flag=stated.codecov_flag,
        nightly=stated.nightly,
        container=container if runner.cloud == "gcp" else None,
        switch=stated.switch,
    )


def taken_for_granted(tests: GpuTests, settings: Settings, repository: str | None, found: Found) -> tuple[Verdict, ...]:
    """What the workflow needs of the repository and will not find there, and what it does not serve."""
    path = f"gpu-tests.{repository or 'REPOSITORY'}"
    return (
        *_runner(tests, settings, repository, path),
        *_container(tests, settings, repository, path),
        *_lock(tests, path, found),
    )


def _runner(tests: GpuTests, settings: Settings, repository: str | None, path: str) -> Iterable[Verdict]:
    """One workflow asks for one runner, and somebody may have meant another; a name may be misspelt."""
    if repository is not None and settings.gpu_tests and repository not in settings.gpu_tests:
        yield _warning(
            path, "there is no such entry, and the defaults are taken", did_you_mean(repository, settings.gpu_tests)
        )
    served = [name for name, one in settings.runners.items() if one.cirun_aws is not None or one.cirun_gcp is not None]
    others = [name for name in served if cirun_label(name) != tests.runner]
    if others and (repository is None or repository not in settings.gpu_tests):
        yield _warning(
            f"{path}.runner",
            f"the workflow asks for {tests.runner} alone; cirun serves {', '.join(others)} as well",
            f"state gpu-tests: {{{repository or 'REPOSITORY'}: {{runner: {others[0]}}}}} for another",
        )


def _container(tests: GpuTests, settings: Settings, repository: str | None, path: str) -> Iterable[Verdict]:
    stated = settings.gpu_tests.get(repository) if repository is not None else None
    if tests.container is not None and stated is not None and stated.python is not None:
        yield _warning(
            f"{path}.python",
            f"the tests run in {tests.container}, which brings its own Python",
            "leave it out, or take the Python of the container",
        )


def _lock(tests: GpuTests, path: str, found: Found) -> Iterable[Verdict]:
    """What uv and pytest refuse, before anybody waits for a GPU to be told."""
    commands = (*tests.install, *tests.tests)
    locked = next((command for command in commands if re.search(r"\buv\b.*--(locked|frozen)\b", command)), None)
    if not found.files:
        needs = [name for name, asked in PLUGINS if any(asked.search(command) for command in commands)]
        wanted = [*(["uv.lock"] if locked else []), *needs]
        if wanted:
            yield _warning(
                path,
                f"the folder holds no repository, so that nobody looked for {', '.join(wanted)}",
                "write into the repository itself, or look there",
            )
    elif locked and "uv.lock" not in found.files:
        yield _warning(
            f"{path}.install",
            f"`{locked}` fails: the repository has no uv.lock",
            f"run `uv lock` there and commit it, or state {path}.install with commands of its own",
        )
    elif locked:
        for name, asked in PLUGINS:
            wanting = next((command for command in commands if asked.search(command)), None)
            if wanting and not re.search(rf'^name = "{name}"$', found.lock, re.MULTILINE):
                yield _warning(
                    f"{path}.tests",
                    f"`{wanting}` fails: uv.lock has no {name}",
                    f"run `uv add --dev {name}` there, or state {path}.tests with commands of its own",
                )


def _warning(subject: str, reason: str, fix: str) -> Verdict:
    return Verdict(check="gpu-tests", level=Level.WARNING, subject=subject, reason=reason, fix=fix)
