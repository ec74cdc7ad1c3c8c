"""The workflows that test a repository on a GPU when a maintainer's label asks for it.

`gpu-tests.yml` runs the tests: on the main branch, and on a pull request only for the event of the label, so that a
later push needs a new label. `gpu-tests-triage.yml` removes the label. It needs a token that can write, which GitHub
only gives to a fork's pull request in `pull_request_target`. Therefore it never checks out code.

The job with the tests cannot be the required check: without a label it is skipped, and a skipped job "will report its
status as Success" (GitHub Docs, "Troubleshooting required status checks", 2026). A second job reports in every run,
under a name that no other job has. Every label starts a run for the same commit, and GitHub uses the check of the last
run. A run without a new request therefore repeats the earlier result; a run without that check would block the pull
request forever (open-metadata/OpenMetadata#31997, 2026).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from config.cirun import CIRUN_PREFIX
from config.faults import Fault
from config.gpu_tests import COMMAND, FLAG, INSTALL, LABEL, PYTHON, RUN_LABEL, SKIP_LABEL, TESTS, VARIABLE
from config.values_github import CRON
from kit.documents import FileError
from kit.render import render
from kit.run_script import IMAGE, RUN_FILE, run_script

TESTS_FILE: Final = ".github/workflows/gpu-tests.yml"
TRIAGE_FILE: Final = ".github/workflows/gpu-tests-triage.yml"
CHECK: Final = "GPU tests"
"""The job to make a required check."""

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
    """The GPU tests of a repository."""

    runner: str
    """The label in `.cirun.yml`, without a suffix."""
    timeout_minutes: int = 30
    """Counted from the first step of the job. GitHub limits the wait before it to a day."""
    gpus: int = 1
    """The number of GPUs that the machine must have."""
    branches: tuple[str, ...] = ("main",)
    """Branches on which every push is tested."""
    run_label: str = RUN_LABEL
    """The label that starts the tests of a pull request's current commit."""
    skip_label: str = SKIP_LABEL
    """The label that exempts a pull request's current commit from the tests."""
    python: str = "3.12"
    install: tuple[str, ...] = INSTALL
    """Commands, one per line."""
    tests: tuple[str, ...] = TESTS
    """Commands, one per line."""
    codecov_flag: str | None = None
    """Send coverage.xml to Codecov under this flag, with the repository's secret CODECOV_TOKEN."""
    nightly: str | None = None
    """A cron schedule. Avoid the full hour, when GitHub is late."""
    container: str | None = None
    """The image in Artifact Registry that the tests run in, by tag or digest; without it, they run on the machine.
    The machine pulls it with its service account, which only machines on Google Cloud have."""
    switch: str | None = None
    """A repository variable. The tests only run if it is "true"; otherwise the required check fails."""


def workflows(tests: GpuTests) -> dict[str, str]:
    """Return both workflows, and with a container the script that runs it, by path.

    Raises:
        FileError: a value is not safe in a workflow.

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
    if tests.container is None:
        return files
    return {**files, RUN_FILE: run_script(tests.container, tests.gpus, (*tests.install, *tests.tests))}


def _faults(tests: GpuTests) -> list[Fault]:
    """Return a fault for each value that could break the YAML or an expression. Values are refused, not quoted."""
    stated = [
        ("runner", tests.runner, r"[A-Za-z0-9][A-Za-z0-9._-]*", "letters, digits, dots and hyphens"),
        ("run_label", tests.run_label, LABEL, "letters, digits, spaces and .:/_-, with no space after a colon"),
        ("skip_label", tests.skip_label, LABEL, "letters, digits, spaces and .:/_-, with no space after a colon"),
        ("python", tests.python, PYTHON, "a Python version, for example 3.12"),
        ("codecov_flag", tests.codecov_flag or "gpu", FLAG, "at most 45 letters, digits and ._-"),
        ("nightly", tests.nightly or "17 3 * * *", CRON, "five cron fields"),
        ("switch", tests.switch or "GPU", VARIABLE, "letters, digits and underscores, no digit first"),
        *([("container", tests.container, IMAGE.pattern, "an image in Artifact Registry")] if tests.container else []),
        *(("branches", branch, _BRANCH, "a branch or a pattern of one") for branch in tests.branches),
        *(("install", command, COMMAND, "one command without an expression") for command in tests.install),
        *(("tests", command, COMMAND, "one command without an expression") for command in tests.tests),
    ]
    faults = [
        Fault(name, f'"{value}" is not valid', f"write {form}") for name, value, pattern, form in stated
        if not re.fullmatch(pattern, value, re.ASCII)
    ]  # fmt: skip
    if not tests.runner.startswith(CIRUN_PREFIX):
        faults.append(Fault("runner", f'"{tests.runner}" is not a label of cirun', f"begin it with {CIRUN_PREFIX}"))
    if "--" in tests.runner:
        faults.append(Fault("runner", 'cirun ignores "--" and the text after it', "state only the label of .cirun.yml"))
    if tests.run_label == tests.skip_label:
        faults.append(Fault("skip_label", "it equals run_label", "use two different labels"))
    return faults
