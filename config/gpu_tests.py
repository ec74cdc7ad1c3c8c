"""What may be said of the workflow by which a repository tests on a GPU: on which runner, by which commands, and when.

Owns the forms as well: what stands here is put into YAML and into GitHub's expressions, so that whatever could end its
place is refused, and not quoted.
"""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from config.section import Section
from config.values import Matching, RunnerName

LABEL: Final = r"[A-Za-z0-9][A-Za-z0-9 ._-]*"
PYTHON: Final = r"3\.\d+"
CRON: Final = r"[\d*/,-]+( [\d*/,-]+){4}"
VARIABLE: Final = r"[A-Z_][A-Z0-9_]*"
COMMAND: Final = r"(?!.*\$\{\{)[^\s#\x00-\x1f\x7f][^\x00-\x1f\x7f]*"
"""One line that begins with a word, without an expression: GitHub would put what a stranger wrote into the script."""

RUN_LABEL: Final = "run-gpu-ci"
SKIP_LABEL: Final = "skip-gpu-ci"
INSTALL: Final = ("uv sync --locked --all-extras",)
TESTS: Final = ("uv run pytest -m gpu --cov --cov-report=xml",)

Label = Annotated[
    str,
    Field(max_length=50),
    Matching(LABEL, "a label", "use letters, digits, spaces, dots and hyphens"),
]
Command = Annotated[
    str,
    Field(max_length=2000),
    Matching(COMMAND, "one line of a script", "write each command as an entry of its own, without ${{ }}"),
]


class GpuTestsSettings(Section):
    """How one repository tests on a GPU. Without an entry it gets the defaults, on the first runner of cirun's."""

    runner: RunnerName | None = None
    """Which of the runners that cirun serves; it may be left out where there is one alone."""
    install: tuple[Command, ...] = INSTALL
    """Commands that install what is tested, one a line."""
    tests: Annotated[tuple[Command, ...], Field(min_length=1)] = TESTS
    """Commands that test, one a line."""
    python: Annotated[str, Matching(PYTHON, "a version of Python", 'write it in quotes, as "3.13"')] | None = None
    """The Python that uv sets up, 3.12 if nothing is stated. A container of tests brings its own."""
    codecov_flag: Annotated[str, Matching(LABEL, "a flag", "use letters, digits, dots and hyphens")] | None = None
    """Send coverage.xml to Codecov under this flag, with the repository's secret CODECOV_TOKEN."""
    nightly: Annotated[str, Matching(CRON, "a time", 'write five fields of cron, as "17 3 * * *"')] | None = None
    """A cron line, in UTC and off the full hour, when GitHub is least late."""
    switch: (
        Annotated[str, Matching(VARIABLE, "a variable's name", "use capital letters, digits and underscores")] | None
    ) = None
    """A variable of the repository that must be "true" for a job to be queued at all."""
    run_label: Label = RUN_LABEL
    """The label that lets a pull request's present commit run."""
    skip_label: Label = SKIP_LABEL
    """The label that excuses a pull request's present commit."""
