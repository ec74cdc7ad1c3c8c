"""`.access.yml` of the repository `.cirun` of an organisation: access to runners by repository, team, role and user.

The keys are those of cirun's reference
(AktechLabs/cirun-docs, `docs/reference/access_control.md`, 18 May 2026).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field

from gpu.nearest import did_you_mean
from gpu.verdict import Verdict, error
from kit.cirun_extra import Text
from kit.closed import Closed, dump_yaml, load_yaml, validated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kit.cirun import CirunFile

ACCESS_FILE: Final = ".access.yml"
_CHECK: Final = "cirun"


class Policy(Closed):
    """Access from one repository, for every member of the teams, roles and users."""

    id: Text
    repo: Text
    """The name of the repository, without its owner."""
    teams: tuple[Text, ...] | None = None
    roles: tuple[Text, ...] | None = None
    """Roles on the repository, for example maintain."""
    users: tuple[Text, ...] | None = None
    pull_request: bool | None = None
    """Whether access includes pull requests; cirun's default is false."""


class Grant(Closed):
    """A runner, and the policies that grant access to it."""

    resource: Text
    """The name of the runner in `.cirun.global.yml`."""
    policies: Annotated[tuple[Text, ...], Field(min_length=1)]


class AccessFile(Closed):
    """The whole file."""

    version: Literal[1] = 1
    policies: Annotated[tuple[Policy, ...], Field(min_length=1)]
    access_control: Annotated[tuple[Grant, ...], Field(min_length=1)]


def read_access(text: str, source: str = ACCESS_FILE) -> AccessFile:
    """Parse the file.

    Raises:
        FileError: it is not YAML, or has keys or values that cirun does not read; names every fault.

    """
    return validated(AccessFile, load_yaml(text, source), source)


def render_access(file: AccessFile, header: Sequence[str] = ()) -> str:
    """Return the text of the file."""
    return dump_yaml(file.model_dump(mode="json", exclude_none=True), header)


def judge_access(access: AccessFile, runners: CirunFile) -> tuple[Verdict, ...]:
    """Return an error for each unknown or duplicate name. cirun refuses such a runner, and its jobs wait for a day."""
    found: list[Verdict] = []
    policies = [policy.id for policy in access.policies]
    names = [runner.name for runner in runners.runners]
    for position, policy in enumerate(access.policies):
        where = f"policies[{position}]"
        if not (policy.teams or policy.roles or policy.users):
            found.append(
                error(
                    _CHECK,
                    f"policies[{position}]",
                    f"{policy.id} grants access to no one",
                    "state teams, roles or users",
                )
            )
        if policies.index(policy.id) != position:
            found.append(error(_CHECK, f"{where}.id", f"{policy.id} is a duplicate id", "use each id once"))
    for position, grant in enumerate(access.access_control):
        path = f"access_control[{position}]"
        if grant.resource not in names:
            found.append(
                error(
                    _CHECK,
                    f"{path}.resource",
                    f"no runner has the name {grant.resource}",
                    did_you_mean(grant.resource, names),
                )
            )
        found += [
            error(_CHECK, f"{path}.policies[{step}]", f"no policy has the id {name}", did_you_mean(name, policies))
            for step, name in enumerate(grant.policies)
            if name not in policies
        ]
    return tuple(found)
