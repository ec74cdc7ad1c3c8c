"""What may be said of cirun: what it is let in with, and who may start which of its runners."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import Field, model_validator

from config.section import Section
from config.values import Invalid, Matching, Name, RunnerName

Repository = Annotated[
    str,
    Field(max_length=100),
    Matching(r"[A-Za-z0-9._-]+", "a repository's name", "write it without its owner, as in vision"),
]
"""A repository of the organisation, as GitHub spells it."""

Who = Annotated[
    str,
    Field(max_length=100),
    Matching(r"[A-Za-z0-9][A-Za-z0-9_-]*", "a name of GitHub's", "write the team, role or user as GitHub spells it"),
]


CIRUN_PREFIX: Final = "cirun-"
"""The prefix of every label of cirun."""
ONE_LINE: Final = re.compile(
    r"cirun-(aws|gcp|azure|do|oracle|openstack)-[a-z0-9.-]+-(amazon|centos|debian|fedora|rhel|rocky|ubuntu|windows)[a-z0-9.-]*"
)
"""A label that names a machine and its image instead of an entry in cirun's file."""


def cirun_label(runner: str) -> str:
    """Return the label by which a workflow asks cirun for a runner."""
    return runner if runner.startswith(CIRUN_PREFIX) else f"{CIRUN_PREFIX}{runner}"


class CirunAccessSettings(Section):
    """Some people, in one repository, and the runners that their jobs may start."""

    repository: Repository
    """The repository's name, without its owner."""
    runners: Annotated[tuple[RunnerName, ...], Field(min_length=1)]
    """Which of the runners that cirun serves."""
    teams: tuple[Who, ...] = ()
    roles: tuple[Who, ...] = ()
    """Roles that a person must have on the repository, as in `maintain`."""
    users: tuple[Who, ...] = ()
    pull_requests: bool = False
    """Whether on a pull request too."""

    @model_validator(mode="after")
    def _lets_somebody_in(self) -> CirunAccessSettings:
        if not (self.teams or self.roles or self.users):
            raise Invalid("grants no access", "state teams, roles or users")
        return self


class CirunSettings(Section):
    """What cirun is let in with. The key itself is made by hand and pasted at cirun; no state ever holds it."""

    aws: bool = False
    """Whether to make a user for cirun on AWS, allowed the types and regions that runners state."""
    gcp: bool = False
    """Whether to make an account for cirun on Google Cloud, allowed to run machines as the runners' account."""
    access: Mapping[Name, CirunAccessSettings] = Field(default_factory=dict)
    """Who may start which runner, for an organisation that shares them; without it, whoever may run a workflow."""
