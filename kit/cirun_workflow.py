"""The workflows by which a repository tests on a GPU when a maintainer's label says so.

Owns two workflows. `gpu-tests.yml` runs the tests: on the main branch, and on a pull request for the very event of the
label, so that a later push waits for a new one. `gpu-tests-triage.yml` takes the label off again; it needs a token
that writes, which GitHub gives a fork's pull request only in `pull_request_target`, and so it never checks out code.

The tests' own job cannot be the required check: it is skipped where nobody asked for it, and a skipped job "will report
its status as Success" (GitHub Docs, "Troubleshooting required status checks", 2026). A second job therefore reports in
every run, under a name that stands nowhere else. Every label starts a run of the same commit, and that run's check is
believed: it repeats what was found before, since a run without that check leaves the pull request waiting for ever
(open-metadata/OpenMetadata#31997, 2026).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from config.faults import Fault
from config.gpu_tests import COMMAND, CRON, INSTALL, LABEL, PYTHON, RUN_LABEL, SKIP_LABEL, TESTS, VARIABLE
from kit.cirun import LABEL_PREFIX
from kit.closed import FileError
from kit.render import render
from kit.run_script import IMAGE, RUN_FILE, run_script

TESTS_FILE: Final = ".github/workflows/gpu-tests.yml"
TRIAGE_FILE: Final = ".github/workflows/gpu-tests-triage.yml"
CHECK: Final = "GPU tests"
"""The job to require before a merge."""

# renovate: datasource=github-tags depName=actions/checkout
CHECKOUT: Final = "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1"
# renovate: datasource=github-tags depName=astral-sh/setup-uv
SETUP_UV: Final = "astral-sh/setup-uv@c771a70e6277c0a99b617c7a806ffedaca235ff9 # v9.0.0"
# renovate: datasource=github-tags depName=codecov/codecov-action
CODECOV: Final = "codecov/codecov-action@fb8b3582c8e4def4969c97caa2f19720cb33a72f # v7.0.0"
# renovate: datasource=pypi depName=uv
UV: Final = "0.13.8"

_BRANCH: Final = r"[A-Za-z0-9*+?!\[\]][A-Za-z0-9*+?!\[\]./_-]*"


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuTests:
    """What a repository tests on a GPU, and when."""

    runner: str
    """The label in `.cirun.yml`, without a suffix."""
    timeout_minutes: int = 30
    """Counts from the job's first step: GitHub bounds the wait before it by a day, whatever is stated here."""
    gpus: int = 1
    """How many GPUs the machine must show before the tests begin."""
    branches: tuple[str, ...] = ("main",)
    """Branches whose pushes are tested without asking."""
    run_label: str = RUN_LABEL
    """The label that lets a pull request's present commit run."""
    skip_label: str = SKIP_LABEL
    """The label that excuses a pull request's present commit."""
    python: str = "3.12"
    install: tuple[str, ...] = INSTALL
    """Commands, one a line."""
    tests: tuple[str, ...] = TESTS
    """Commands, one a line."""
    codecov_flag: str | None = None
    """Send coverage.xml to Codecov under this flag, with the repository's secret CODECOV_TOKEN."""
    nightly: str | None = None
    """A cron line, off the full hour, when GitHub is least late."""
    container: str | None = None
    """The image in Artifact Registry that install and tests run in, by tag or digest; the machine itself without it.
    The machine pulls it as the account that it runs as, which only a machine on Google Cloud has."""
    switch: str | None = None
    """A repository variable that must be "true" for a job to be queued at all. Without it nothing is tested, and so
    nothing passes."""


def workflows(tests: GpuTests) -> dict[str, str]:
    """Both workflows, and the script that one of them runs where there is a container, by their path in the repository.

    Raises:
        FileError: a value would not stand as one in a workflow.

    """
    faults = list(_faults(tests))
    if faults:
        raise FileError(TESTS_FILE, faults)
    pins = {"checkout": CHECKOUT, "setup_uv": SETUP_UV, "codecov": CODECOV, "uv": UV}
    container = IMAGE.fullmatch(tests.container or "")
    names = {"check": CHECK, "workflow": PurePosixPath(TESTS_FILE).name, "run_file": RUN_FILE}
    registry = container["host"] if container else ""
    files = {
        TESTS_FILE: render("gpu-tests.yml.j2", tests=tests, registry=registry, **names, **pins),
        TRIAGE_FILE: render("gpu-tests-triage.yml.j2", tests=tests),
    }
    return files if tests.container is None else {**files, RUN_FILE: run_script(tests.container, tests.gpus)}


def _faults(tests: GpuTests) -> list[Fault]:
    """Values are put into YAML and into expressions: what could end either is refused, not quoted."""
    stated = [
        ("runner", tests.runner, r"[A-Za-z0-9][A-Za-z0-9._-]*", "letters, digits, dots and hyphens"),
        ("run_label", tests.run_label, LABEL, "letters, digits, spaces, dots and hyphens"),
        ("skip_label", tests.skip_label, LABEL, "letters, digits, spaces, dots and hyphens"),
        ("python", tests.python, PYTHON, "a Python version, as 3.12"),
        ("codecov_flag", tests.codecov_flag or "gpu", LABEL, "letters, digits, dots and hyphens"),
        ("nightly", tests.nightly or "17 3 * * *", CRON, "five cron fields"),
        ("switch", tests.switch or "GPU", VARIABLE, "capital letters, digits and underscores"),
        *([("container", tests.container, IMAGE.pattern, "an image in Artifact Registry")] if tests.container else []),
        *(("branches", branch, _BRANCH, "a branch or a pattern of one") for branch in tests.branches),
        *(("install", command, COMMAND, "one command without an expression") for command in tests.install),
        *(("tests", command, COMMAND, "one command without an expression") for command in tests.tests),
    ]
    faults = [
        Fault(name, f'"{value}" does not fit', f"write {form}") for name, value, pattern, form in stated
        if not re.fullmatch(pattern, value, re.ASCII)
    ]  # fmt: skip
    if not tests.runner.startswith(LABEL_PREFIX):
        faults.append(Fault("runner", f'"{tests.runner}" is no label of cirun', f"begin it with {LABEL_PREFIX}"))
    if "--" in tests.runner:
        faults.append(Fault("runner", 'cirun drops everything from "--" on', "state the label of .cirun.yml alone"))
    if tests.run_label == tests.skip_label:
        faults.append(Fault("skip_label", "it is the run label too", "give them two names"))
    return faults
