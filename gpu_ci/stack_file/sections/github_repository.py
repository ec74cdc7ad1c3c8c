"""The section of one repository at GitHub: its variables, the labels of its GPU tests, and its default branch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from gpu_ci.stack_file.sections.gpu_tests import Variable
from gpu_ci.stack_file.sections.section import Section
from gpu_ci.stack_file.values.general import Matching
from gpu_ci.stack_file.values.github import INVISIBLE

CheckName = Annotated[
    str,
    Field(max_length=255),
    Matching(rf"(?! )[^{INVISIBLE}]+(?<! )", "the name of a check", "write the name of the job, as in GPU tests"),
]
VariableValue = Annotated[
    str,
    Field(max_length=1000),
    Matching(rf"[^{INVISIBLE}]+", "a value", "write one line without special spaces"),
]


class GitHubRepositorySettings(Section):
    """The settings of one repository, which `pulumi up` sets with the token in `GITHUB_TOKEN`."""

    variables: Mapping[Variable, VariableValue] = Field(default_factory=dict)
    """Variables of GitHub Actions, such as the switch of the GPU tests."""
    labels: bool = True
    """Create the labels that start and skip the GPU tests."""
    required_checks: tuple[CheckName, ...] | None = None
    """Accept changes of the default branch only by pull requests that pass these checks, as in `[GPU tests]`. With an
    empty list, pull requests need no check; without the key, nothing is required."""
