"""The section of cirun: its access to the clouds, and the people that may start its runners."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import Field, model_validator

from gpu_ci.stack_file.sections.section import Section
from gpu_ci.stack_file.values.general import Invalid, Name, RunnerName
from gpu_ci.stack_file.values.github import Login, Repository, Who

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
    """People in one repository, and the runners that their jobs may start."""

    repository: Repository
    """The repository's name, without its owner."""
    runners: Annotated[tuple[RunnerName, ...], Field(min_length=1)]
    """Runners that cirun serves."""
    teams: tuple[Who, ...] = ()
    roles: tuple[Who, ...] = ()
    """Roles of a person in the repository, as in `maintain`."""
    users: tuple[Login, ...] = ()
    pull_requests: bool = False
    """Allow the runners on pull requests too."""

    @model_validator(mode="after")
    def _grants_access(self) -> CirunAccessSettings:
        if not (self.teams or self.roles or self.users):
            raise Invalid("grants no access", "state teams, roles or users")
        return self


class CirunSettings(Section):
    """Access for cirun. Its key is created by hand and pasted into cirun's dashboard, so that no state contains it."""

    aws: bool = False
    """Create a user for cirun on AWS that may start the types and regions that runners state."""
    gcp: bool = False
    """Create a service account for cirun on Google Cloud that may start machines with the runners' account."""
    access: Mapping[Name, CirunAccessSettings] = Field(default_factory=dict)
    """Access to runners that an organisation shares. Without it, anyone who may run a workflow may start them."""
