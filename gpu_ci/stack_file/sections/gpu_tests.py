"""The section of a repository's GPU tests: the runner, the commands, the caches and the schedule.

Its values become part of YAML and of GitHub's expressions. A value that would need quoting there is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from gpu_ci.stack_file.sections.section import Section
from gpu_ci.stack_file.values.general import IMAGE, Invalid, Matching, RunnerName
from gpu_ci.stack_file.values.github import INVISIBLE, Cron

LABEL: Final = r"[A-Za-z0-9](([A-Za-z0-9 ._/-]|:(?! ))*[A-Za-z0-9._/-])?"
"""A label that needs no quotes in YAML: a colon has no space after it."""
FLAG: Final = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,44}"
"""A flag of Codecov (Codecov documentation, "Flags", 2026)."""
PYTHON: Final = r"3\.([89]|1\d)(\.\d{1,2})?t?"
"""CPython from 3.8, the oldest that uv installs, with or without the last part; `t` is the build without the GIL."""
VARIABLE: Final = r"(?![Gg][Ii][Tt][Hh][Uu][Bb]_)[A-Za-z_][A-Za-z0-9_]{0,254}"
COMMAND: Final = rf"(?!.*\$\{{\{{)[^\s#{INVISIBLE}][^{INVISIBLE}]*"
"""One line that begins with a word, without an expression: GitHub would insert untrusted text into the script."""
PATH: Final = r"!?[A-Za-z0-9_.*?\[\]+/-]+"
"""A pattern of paths in a filter of GitHub, which needs no escapes between quotes."""
VALUE: Final = rf'(?!.*\$\{{\{{)[^"\\{INVISIBLE}]*'
"""A value of an environment variable that needs no escapes between quotes, without an expression."""
CONTAINER: Final = rf"{IMAGE}(:[A-Za-z0-9_][A-Za-z0-9._-]{{0,127}})?@sha256:[0-9a-f]{{64}}"
"""An image with its digest, and optionally its tag."""

RUN_LABEL: Final = "run-gpu-ci"
SKIP_LABEL: Final = "skip-gpu-ci"
SWITCH: Final = "ENABLE_GPU_SMOKE"
"""The variable of a repository that switches tests with `paths` on, where the entry names no other."""
MARKER: Final = re.compile(r"-m gpu\b")
"""The marker in a command, which the input of the reusable workflow replaces."""

Tool = Literal["uv", "pip", "micromamba", "make"]
Label = Annotated[
    str,
    Field(max_length=50),
    Matching(LABEL, "a label", "use letters, digits, spaces and .:/_-, with no space after a colon"),
]
Command = Annotated[
    str,
    Field(max_length=2000),
    Matching(
        COMMAND,
        "one line of a script",
        "write each command as its own entry, without ${{ }} and special spaces",
    ),
]
Commands = Annotated[tuple[Command, ...], Field(min_length=1)]
Variable = Annotated[
    str, Matching(VARIABLE, "a variable's name", "use letters, digits and underscores, no digit first")
]
Value = Annotated[str, Field(max_length=255), Matching(VALUE, "a value", "write it without quotes, \\ and ${{ }}")]
MatrixKey = Annotated[
    str,
    Matching(
        r"(?!(include|exclude|github_.*)$)[a-z][a-z0-9_]{0,29}",
        "a key of a matrix",
        "use lower-case letters, digits and _",
    ),
]
MatrixValue = Annotated[
    str, Matching(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,49}", "a value of a matrix", "use letters, digits and ._+-, in quotes")
]
Place = Annotated[
    str,
    Field(max_length=255),
    Matching(
        r"none|actions|(/[A-Za-z0-9_][A-Za-z0-9._-]*)+|(s3|gs)://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9_-][A-Za-z0-9._-]*)*",
        "a place for caches",
        "write none, actions, a folder as /cache, s3://BUCKET or gs://BUCKET",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """The commands of a tool."""

    install: tuple[str, ...] = ()
    tests: tuple[str, ...]


PYTEST: Final = "pytest -m gpu --cov --cov-report=xml"
DEFAULTS: Final[Mapping[Tool, Defaults]] = {
    "uv": Defaults(install=("uv sync --locked --all-extras",), tests=(f"uv run {PYTEST}",)),
    # pip only warns about an extra that the package does not have.
    "pip": Defaults(install=('python -m pip install ".[dev,test,gpu]"',), tests=(f"python -m {PYTEST}",)),
    "micromamba": Defaults(tests=(f"python -m {PYTEST}",)),
    "make": Defaults(tests=("make test-gpu",)),
}
"""A tool to its commands, where an entry states none."""


class GpuTestsSettings(Section):
    """The GPU tests of one repository. Without an entry it gets the defaults, on the first runner of the stack."""

    runner: RunnerName | None = None
    """The runner of the tests. Optional where there is only one."""
    tool: Tool = "uv"
    """The tool that installs Python and the packages. `micromamba` uses an environment that `make kit` writes; `make`
    installs nothing."""
    install: tuple[Command, ...] | None = None
    """Commands that install the package and its tests, one in each entry. By default those of the tool."""
    tests: Commands | None = None
    """Commands that run the tests, one in each entry. By default those of the tool."""
    cpu: tuple[Command, ...] = ()
    """Commands that test without a GPU, in every run, on a machine of GitHub."""
    python: Annotated[str, Matching(PYTHON, "a version of Python", 'write it in quotes, as "3.13"')] | None = None
    """The Python version that the tool installs, by default 3.12. A container has its own."""
    matrix: Mapping[MatrixKey, Annotated[tuple[MatrixValue, ...], Field(min_length=1, max_length=16)]] = Field(
        default_factory=dict, max_length=4
    )
    """Values that are tested in all combinations. Commands read them from a variable: `torch` is in $TORCH. `python` is
    the version that the tool installs."""
    docs: tuple[Command, ...] = ()
    """Commands that build the documentation into the folder `site`, with uv. A workflow publishes it on Pages."""
    env: Mapping[Variable, Value] = Field(default_factory=dict)
    """Environment variables of the GPU tests."""
    container: (
        Annotated[
            str,
            Field(max_length=255),
            Matching(CONTAINER, "an image", "write REGISTRY/NAME@sha256:DIGEST, because a tag can move"),
        ]
        | None
    ) = None
    """The image of the job's `container:`. By default the one of the runner, where a runner needs it."""
    paths: tuple[Annotated[str, Matching(PATH, "a pattern of paths", "write it as src/**, without spaces")], ...] = ()
    """Test each change of these files, without a label: pushes, and pull requests of the repository itself. Those of
    forks still need the label."""
    cache: Place = "none"
    """The place of the caches of packages, models and compilers between jobs: GitHub's (`actions`), a folder on a
    machine that keeps files, or a bucket that the machine can write."""
    ccache: bool = False
    """Compile with ccache, which must be on the machine or in its image. Needs `cache`."""
    smoke_test: bool = False
    """Write tests/test_gpu_smoke.py, which tests PyTorch on the GPU, and gpu-smoke.yml, which proves every runner with
    machines of its own."""
    smoke_schedule: Cron | None = None
    """A cron expression in UTC for gpu-smoke.yml. Without it, the workflow is only started by hand."""
    reusable: bool = False
    """Write _gpu.yml as well, which other workflows of the repository call with a marker of pytest."""
    codecov_flag: Annotated[str, Matching(FLAG, "a flag", "use at most 45 letters, digits and ._-")] | None = None
    """Upload coverage.xml to Codecov with this flag and the repository's secret CODECOV_TOKEN."""
    nightly: Cron | None = None
    """A cron expression in UTC. GitHub starts jobs late at the full hour, so choose another minute."""
    switch: Variable | None = None
    """A variable of the repository. Jobs are queued only where it is "true". With `paths`, it is ENABLE_GPU_SMOKE by
    default."""
    run_label: Label = RUN_LABEL
    """The label that starts the tests on the current commit of a pull request."""
    skip_label: Label = SKIP_LABEL
    """The label that skips the tests on the current commit of a pull request."""

    @model_validator(mode="after")
    def _options_fit(self) -> GpuTestsSettings:
        if self.ccache and self.cache == "none":
            raise Invalid("ccache has no effect without a cache", "state cache, or remove ccache")
        if self.smoke_schedule is not None and not self.smoke_test:
            raise Invalid("smoke-schedule has no effect without smoke-test", "state smoke-test: true")
        if self.python is not None and "python" in self.matrix:
            raise Invalid("python and matrix.python exclude each other", "remove one of them")
        if self.tool == "make" and (self.python is not None or "python" in self.matrix):
            raise Invalid("make installs no Python", "remove python, or use another tool")
        both = sorted({key.upper() for key in self.matrix} & {*self.env})
        if both:
            raise Invalid(f"env.{both[0]} is a variable of the matrix", "use another name")
        if self.reusable and not any(MARKER.search(command) for command in self.test_commands):
            raise Invalid("reusable needs a command with `-m gpu`, which its input replaces", "add it to tests")
        return self

    @property
    def install_commands(self) -> tuple[str, ...]:
        """The commands that install the package."""
        return DEFAULTS[self.tool].install if self.install is None else self.install

    @property
    def test_commands(self) -> tuple[str, ...]:
        """The commands that run the tests."""
        return DEFAULTS[self.tool].tests if self.tests is None else self.tests
