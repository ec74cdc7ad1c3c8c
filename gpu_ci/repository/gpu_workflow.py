"""The workflows that test a repository on a GPU.

`gpu-tests.yml` runs the tests: on the main branch, and on a pull request only for the event of the label, so that a
later push needs a new label. `gpu-tests-triage.yml` removes the label. It needs a token that can write, which GitHub
only gives to a fork's pull request in `pull_request_target`. Therefore it never checks out code.

The job with the tests cannot be the required check: without a label it is skipped, and a skipped job "will report its
status as Success" (GitHub Docs, "Troubleshooting required status checks", 2026). A second job reports in every run,
under a name that no other job has. Every label starts a run for the same commit, and GitHub uses the check of the last
run. A run without a new request therefore repeats the earlier result; a run without that check would block the pull
request forever (open-metadata/OpenMetadata#31997, 2026).

With `paths`, GitHub skips the whole workflow for other changes and waits forever for its required checks (the same
page). Such a workflow therefore has no job to require.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final

from gpu_ci.knowledge.machines import GPU_MODELS
from gpu_ci.repository.actions import STEPS
from gpu_ci.repository.documents import FileError, value_faults
from gpu_ci.repository.python_environment import ENVIRONMENT_FILE
from gpu_ci.repository.render import render
from gpu_ci.repository.run_script import IMAGE, RUN_FILE, run_script
from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.sections import gpu_tests as section
from gpu_ci.stack_file.sections.gpu_tests import (
    DEFAULTS,
    LABEL,
    MARKER,
    RUN_LABEL,
    SKIP_LABEL,
    SWITCH,
    VARIABLE,
    GpuTestsSettings,
    Tool,
)
from gpu_ci.stack_file.sections.runners import Needs, RunnerSettings
from gpu_ci.stack_file.values.general import IMAGE as IMAGE_NAME
from gpu_ci.stack_file.values.github import CRON

TESTS_FILE: Final = ".github/workflows/gpu-tests.yml"
TRIAGE_FILE: Final = ".github/workflows/gpu-tests-triage.yml"
REUSABLE_FILE: Final = ".github/workflows/_gpu.yml"
CHECK: Final = "GPU tests"
"""The job to make a required check."""
PYTHON: Final = "3.12"
"""The version that the tools install by default."""
ANY_MODEL: Final = "NVIDIA"
CACHED: Final = ("uv", "pip", "huggingface", "torch", "ccache")
"""Caches of tools, by their folders in ~/.cache."""
COPY: Final = {"s3": "aws s3 sync --only-show-errors", "gs": "gcloud storage rsync --recursive"}
"""The scheme of a bucket to the command that copies changed files."""

_BRANCH: Final = r"[A-Za-z0-9*+?!\[\]][A-Za-z0-9*+?!\[\]./_-]*"
_RUNS_ON: Final = (
    r"runs-on: ([A-Za-z0-9][A-Za-z0-9._-]*|\[[A-Za-z0-9][A-Za-z0-9._-]*(, [A-Za-z0-9][A-Za-z0-9._-]*)*\]"
    r'|"[A-Za-z0-9][A-Za-z0-9._-]*--\$\{\{ github\.run_id \}\}-\$\{\{ github\.run_attempt \}\}")'
)
"""The line that asks for a runner: one label, several labels, or a label with a suffix for this attempt of the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuTests:
    """The GPU tests of a repository."""

    runner: str
    """The label that identifies the runner."""
    runs_on: str
    """The line of a job that asks for it."""
    suffix: bool = False
    """Whether that line ends with text that identifies the run."""
    timeout_minutes: int = 30
    """Counted from the first step of the job. GitHub limits the wait before it to a day."""
    gpus: int = 1
    """The number of GPUs that the machine must have."""
    model: str = ANY_MODEL
    """A word in the name of each GPU, as nvidia-smi reports it."""
    branches: tuple[str, ...] = ("main",)
    """Branches on which every push is tested."""
    paths: tuple[str, ...] = ()
    """Patterns of files whose changes are tested without a label."""
    run_label: str = RUN_LABEL
    """The label that starts the tests of a pull request's current commit."""
    skip_label: str = SKIP_LABEL
    """The label that exempts a pull request's current commit from the tests."""
    tool: Tool = "uv"
    python: str = PYTHON
    matrix: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    install: tuple[str, ...] = DEFAULTS["uv"].install
    """Commands, one per line."""
    tests: tuple[str, ...] = DEFAULTS["uv"].tests
    """Commands, one per line."""
    cpu: tuple[str, ...] = ()
    """Commands of the tests without a GPU, one per line."""
    codecov_flag: str | None = None
    """Send coverage.xml to Codecov under this flag, with the repository's secret CODECOV_TOKEN."""
    nightly: str | None = None
    """A cron schedule. Avoid the full hour, when GitHub is late."""
    container: str | None = None
    """The image in Artifact Registry that a script runs the tests in, by tag or digest; without it, they run on the
    machine. The machine pulls it with its service account, which only machines on Google Cloud have."""
    job_container: str | None = None
    """The image of the job's `container:`."""
    own_machine: bool = False
    """Whether a machine runs the job, and its Docker that container. Otherwise a pod of a cluster does."""
    switch: str | None = None
    """A repository variable. The tests only run if it is "true"; otherwise the required check fails."""
    cache: str = "none"
    ccache: bool = False
    reusable: bool = False

    @property
    def cache_kind(self) -> str:
        """The kind of the place of the caches: none, actions, folder or bucket."""
        if self.cache.startswith("/"):
            return "folder"
        return "bucket" if "://" in self.cache else self.cache

    @property
    def python_version(self) -> str:
        """The version of Python, or the expression of the matrix."""
        return "${{ matrix.python }}" if "python" in self.matrix else self.python

    @property
    def matrix_variables(self) -> dict[str, str]:
        """The environment variables with the values of the matrix."""
        return {key.upper(): f"${{{{ matrix.{key} }}}}" for key in self.matrix if key != "python"}

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables of the job."""
        ccache = {"CC": "ccache gcc", "CXX": "ccache g++", "CMAKE_CUDA_COMPILER_LAUNCHER": "ccache"}
        return {
            # micromamba keeps its downloads in its own folder, which does not follow the first variable.
            **(
                {"XDG_CACHE_HOME": self.cache, "CONDA_PKGS_DIRS": f"{self.cache}/micromamba"}
                if self.cache_kind == "folder"
                else {}
            ),
            **(ccache if self.ccache else {}),
            **self.matrix_variables,
            **self.env,
        }


def model_of(needs: Needs) -> str:
    """Return the word that identifies the GPU of a job in the name that nvidia-smi reports."""
    model = GPU_MODELS.get(needs.gpu)
    return model.family if model is not None else ANY_MODEL


def entry(
    stated: GpuTestsSettings,
    runner: RunnerSettings,
    *,
    label: str,
    runs_on: str,
    branches: tuple[str, ...],
    suffix: bool = False,
    container: str | None = None,
    job_container: str | None = None,
    own_machine: bool = False,
) -> GpuTests:
    """Return the tests of an entry of `gpu-tests` on a runner."""
    tests = stated.test_commands
    if stated.reusable:
        tests = tuple(MARKER.sub('-m "${MARKER:-gpu}"', command) for command in tests)
    return GpuTests(
        runner=label,
        runs_on=runs_on,
        suffix=suffix,
        timeout_minutes=runner.timeout_minutes,
        gpus=runner.needs.gpus,
        model=model_of(runner.needs),
        branches=branches,
        paths=stated.paths,
        run_label=stated.run_label,
        skip_label=stated.skip_label,
        tool=stated.tool,
        python=stated.python or PYTHON,
        matrix=stated.matrix,
        env=stated.env,
        install=stated.install_commands,
        tests=tests,
        cpu=stated.cpu,
        codecov_flag=stated.codecov_flag,
        nightly=stated.nightly,
        container=container,
        job_container=job_container,
        own_machine=own_machine,
        switch=stated.switch or (SWITCH if stated.paths else None),
        cache=stated.cache,
        ccache=stated.ccache,
        reusable=stated.reusable,
    )


def job_values(tests: GpuTests, *, reusable: bool = False) -> dict[str, Any]:
    """Return the values of the templates of a job that tests on a GPU. `reusable` is True for a called workflow."""
    container = IMAGE.fullmatch(tests.container or "")
    # cirun starts one machine for each label, so each job of a matrix needs its own.
    suffix = '-${{ strategy.job-index }}"'
    return {
        "tests": tests,
        "reusable": reusable,
        "runs_on": tests.runs_on[:-1] + suffix if tests.suffix and tests.matrix else tests.runs_on,
        # micromamba activates its environment in a login shell.
        "shell": "bash -leo pipefail {0}" if tests.tool == "micromamba" else "bash",
        "cached": CACHED,
        "copy": COPY.get(tests.cache.partition(":")[0], ""),
        "environment_file": ENVIRONMENT_FILE,
        "registry": container["host"] if container else "",
        "run_file": RUN_FILE,
        **STEPS,
    }


def workflows(tests: GpuTests) -> dict[str, str]:
    """Return the workflows, and the script that runs the same tests by hand, by path.

    Raises:
        FileError: a value is not safe in a workflow.

    """
    faults = list(_faults(tests))
    if faults:
        raise FileError(TESTS_FILE, faults)
    names = {"check": CHECK, "workflow": PurePosixPath(TESTS_FILE).name}
    files = {
        TESTS_FILE: render("gpu-tests.yml.j2", **names, **job_values(tests)),
        TRIAGE_FILE: render("gpu-tests-triage.yml.j2", tests=tests),
    }
    if tests.reusable:
        files[REUSABLE_FILE] = render("gpu-reusable.yml.j2", **job_values(tests, reusable=True))
    variables = (*tests.variables, *(("MARKER",) if tests.reusable else ()))
    files[RUN_FILE] = run_script(tests.container, tests.gpus, (*tests.install, *tests.tests), variables)
    return files


def _faults(tests: GpuTests) -> list[Fault]:
    """Return a fault for each value that could break the YAML or an expression, and for equal labels."""
    stated = [
        ("runs_on", tests.runs_on, _RUNS_ON, "runs-on: LABEL"),
        ("model", tests.model, r"[A-Za-z0-9]+", "one word of the name of a GPU"),
        ("run_label", tests.run_label, LABEL, "letters, digits, spaces and .:/_-, with no space after a colon"),
        ("skip_label", tests.skip_label, LABEL, "letters, digits, spaces and .:/_-, with no space after a colon"),
        ("python", tests.python, section.PYTHON, "a Python version, for example 3.12"),
        ("codecov_flag", tests.codecov_flag or "gpu", section.FLAG, "at most 45 letters, digits and ._-"),
        ("nightly", tests.nightly or "17 3 * * *", CRON, "five cron fields"),
        ("switch", tests.switch or "GPU", VARIABLE, "letters, digits and underscores, no digit first"),
        *([("container", tests.container, IMAGE.pattern, "an image in Artifact Registry")] if tests.container else []),
        *(
            [
                (
                    "job_container",
                    tests.job_container,
                    rf"{IMAGE_NAME}(:[A-Za-z0-9_][A-Za-z0-9._-]*)?(@sha256:[0-9a-f]{{64}})?",
                    "an image",
                )
            ]
            if tests.job_container
            else []
        ),
        *(("branches", branch, _BRANCH, "a branch or a pattern of one") for branch in tests.branches),
        *(("install", command, section.COMMAND, "one command without an expression") for command in tests.install),
        *(("tests", command, section.COMMAND, "one command without an expression") for command in tests.tests),
        *(("cpu", command, section.COMMAND, "one command without an expression") for command in tests.cpu),
        *(("paths", path, section.PATH, "a pattern of paths") for path in tests.paths),
        *((f"env.{name}", value, section.VALUE, "a value without quotes") for name, value in tests.env.items()),
    ]
    faults = value_faults(stated)
    if tests.run_label == tests.skip_label:
        faults.append(Fault("skip_label", "it equals run_label", "use two different labels"))
    return faults
