"""The GPU tests of one repository: the choice of the runner, and what the workflow needs of the repository.

`gpu_ci.repository.gpu_workflow` renders the workflow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from gpu_ci.back_ends.registry import BACK_ENDS
from gpu_ci.derived.gpu_tests import runner_of, testable
from gpu_ci.knowledge.nearest import did_you_mean
from gpu_ci.knowledge.regions import Cloud
from gpu_ci.knowledge.verdict import Verdict, warning
from gpu_ci.repository.gpu_workflow import PYTHON, GpuTests, entry, model_of
from gpu_ci.repository.python_environment import ENVIRONMENT_FILE, environment_file
from gpu_ci.repository.render import render
from gpu_ci.stack_file.identity import Identity
from gpu_ci.stack_file.sections.gpu_tests import GpuTestsSettings
from gpu_ci.stack_file.sections.images import ImageSettings
from gpu_ci.stack_file.sections.settings import Settings

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
SMOKE_FILE: Final = "tests/test_gpu_smoke.py"
LOOKED_FOR: Final = (".git", "pyproject.toml", "uv.lock")


def branches(settings: Settings) -> tuple[str, ...]:
    """Return the branches with reviewed code: pushes to all of them are tested, and images come from the first."""
    return settings.github_federation.branches if settings.github_federation is not None else ("main",)


def gpu_tests(
    settings: Settings, identity: Identity, repository: str | None, container: str | None = None
) -> GpuTests | None:
    """Return the tests of `repository`, or the defaults without an entry; None if the stack has no runner for them."""
    runners = testable(settings)
    stated = settings.gpu_tests.get(repository or "", GpuTestsSettings())
    name = runner_of(stated, settings)
    if name is None or name not in runners:
        return None
    runner, asked = settings.runners[name], runners[name]
    offer = BACK_ENDS[runner.back_end].offer(name, runner, settings)
    on_gcp = offer.own is not None and offer.own.cloud is Cloud.GCP and stated.container is None
    job_container = stated.container
    if job_container is None and asked.job_container and offer.shared is not None:
        job_container = _image(settings.images[offer.shared.image], settings, identity)
    return entry(
        stated,
        runner,
        label=asked.label,
        runs_on=asked.line,
        suffix=asked.suffix,
        branches=branches(settings),
        container=container if on_gcp else None,
        job_container=job_container,
        own_machine=offer.own is not None,
    )


def entry_files(settings: Settings, repository: str | None) -> dict[str, str]:
    """Return the files that an entry of `gpu-tests` asks for besides workflows, by path."""
    stated = settings.gpu_tests.get(repository or "", GpuTestsSettings())
    name = runner_of(stated, settings)
    if name is None:
        return {}
    needs = settings.runners[name].needs
    files: dict[str, str] = {}
    if stated.tool == "micromamba":
        python = None if "python" in stated.matrix else stated.python or PYTHON
        files[ENVIRONMENT_FILE] = environment_file(
            python=python, cuda=needs.cuda, torch_version=needs.torch, onnxruntime=needs.onnxruntime
        )
    if stated.smoke_test:
        files[SMOKE_FILE] = render("test_gpu_smoke.py.j2", gpus=needs.gpus, model=model_of(needs))
    return files


def _image(image: ImageSettings, settings: Settings, identity: Identity) -> str:
    """Return an image as a job's `container:` names it."""
    place = image.reference
    if image.repository is not None and settings.aws is not None:
        host = f"{settings.aws.account}.dkr.ecr.{settings.aws.region}.amazonaws.com"
        place = f"{host}/{identity.prefix}/{image.repository}"
    return f"{place}{f':{image.tag}' if image.tag else ''}{f'@{image.digest}' if image.digest else ''}"


def taken_for_granted(tests: GpuTests, settings: Settings, repository: str | None, found: Found) -> tuple[Verdict, ...]:
    """Return a warning for everything that the workflow needs and the repository does not have."""
    path = f"gpu-tests.{repository or 'REPOSITORY'}"
    return (
        *_runner(tests, settings, repository, path),
        *_lock(tests, path, found),
    )


def _runner(tests: GpuTests, settings: Settings, repository: str | None, path: str) -> Iterable[Verdict]:
    """Warn if another runner may be meant: the name may be misspelt, or the stack has several runners."""
    if repository is not None and settings.gpu_tests and repository not in settings.gpu_tests:
        yield warning(CHECK, path, "no such entry; the defaults are used", did_you_mean(repository, settings.gpu_tests))
    others = [name for name, asked in testable(settings).items() if asked.label != tests.runner]
    stated = settings.gpu_tests.get(repository or "")
    if others and (stated is None or stated.runner is None):
        yield warning(
            CHECK,
            f"{path}.runner",
            f"the workflow uses {tests.runner}; the stack also has {', '.join(others)}",
            f"state gpu-tests: {{{repository or 'REPOSITORY'}: {{runner: {others[0]}}}}} to use another",
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
