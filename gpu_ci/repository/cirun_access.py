"""`.access.yml` of the repository `.cirun` of an organisation: access to runners by repository, team, role and user.

The keys are those of cirun's reference
(AktechLabs/cirun-docs, `docs/reference/access_control.md`, 18 May 2026).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final

from gpu_ci.repository.documents import dump_yaml

ACCESS_FILE: Final = ".access.yml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Access from one repository, for every member of the teams, roles and users."""

    id: str
    repo: str
    """The name of the repository, without its owner."""
    teams: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    """Roles on the repository, for example maintain."""
    users: tuple[str, ...] = ()
    pull_request: bool = False
    """Whether access includes pull requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A runner, and the policies that grant access to it."""

    resource: str
    """The name of the runner in `.cirun.global.yml`."""
    policies: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessFile:
    """The whole file."""

    policies: tuple[Policy, ...]
    access_control: tuple[Grant, ...]


def render_access(file: AccessFile) -> str:
    """Return the text of the file, without empty lists."""
    policies = [{key: value for key, value in asdict(policy).items() if value != ()} for policy in file.policies]
    return dump_yaml({"version": 1, **asdict(file), "policies": policies})
