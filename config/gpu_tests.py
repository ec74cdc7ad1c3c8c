"""The section of a repository's GPU tests: the runner, the commands and the schedule.

Its values become part of YAML and of GitHub's expressions. A value that would need quoting there is rejected.
"""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from config.section import Section
from config.values import Matching, RunnerName
from config.values_github import INVISIBLE, Cron

LABEL: Final = r"[A-Za-z0-9](([A-Za-z0-9 ._/-]|:(?! ))*[A-Za-z0-9._/-])?"
"""A label that needs no quotes in YAML: a colon has no space after it."""
FLAG: Final = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,44}"
"""A flag of Codecov (Codecov documentation, "Flags", 2026)."""
PYTHON: Final = r"3\.([89]|1\d)(\.\d{1,2})?t?"
"""CPython from 3.8, the oldest that uv installs, with or without the last part; `t` is the build without the GIL."""
VARIABLE: Final = r"(?![Gg][Ii][Tt][Hh][Uu][Bb]_)[A-Za-z_][A-Za-z0-9_]{0,254}"
COMMAND: Final = rf"(?!.*\$\{{\{{)[^\s#{INVISIBLE}][^{INVISIBLE}]*"
"""One line that begins with a word, without an expression: GitHub would insert untrusted text into the script."""

RUN_LABEL: Final = "run-gpu-ci"
SKIP_LABEL: Final = "skip-gpu-ci"
INSTALL: Final = ("uv sync --locked --all-extras",)
TESTS: Final = ("uv run pytest -m gpu --cov --cov-report=xml",)

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


class GpuTestsSettings(Section):
    """The GPU tests of one repository. Without an entry it gets the defaults, on the first runner of cirun."""

    runner: RunnerName | None = None
    """A runner that cirun serves. Optional where there is only one."""
    install: tuple[Command, ...] = INSTALL
    """Commands that install the package and its tests, one in each entry."""
    tests: Annotated[tuple[Command, ...], Field(min_length=1)] = TESTS
    """Commands that run the tests, one in each entry."""
    python: Annotated[str, Matching(PYTHON, "a version of Python", 'write it in quotes, as "3.13"')] | None = None
    """The Python version that uv installs, by default 3.12. A container has its own."""
    codecov_flag: Annotated[str, Matching(FLAG, "a flag", "use at most 45 letters, digits and ._-")] | None = None
    """Upload coverage.xml to Codecov with this flag and the repository's secret CODECOV_TOKEN."""
    nightly: Cron | None = None
    """A cron expression in UTC. GitHub starts jobs late at the full hour, so choose another minute."""
    switch: (
        Annotated[str, Matching(VARIABLE, "a variable's name", "use letters, digits and underscores, no digit first")]
        | None
    ) = None
    """A variable of the repository. Jobs are queued only where it is "true"."""
    run_label: Label = RUN_LABEL
    """The label that starts the tests on the current commit of a pull request."""
    skip_label: Label = SKIP_LABEL
    """The label that skips the tests on the current commit of a pull request."""
