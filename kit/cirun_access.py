"""`.access.yml` of an organisation's repository `.cirun`: who may start which runner, from which repository.

Owns the shape and the one rule that ties it to `.cirun.global.yml`. The keys are those of cirun's reference
(AktechLabs/cirun-docs, `docs/reference/access_control.md`, 18 May 2026).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field

from gpu.nearest import did_you_mean
from gpu.verdict import Level, Verdict
from kit.cirun_extra import Text
from kit.closed import Closed, dump_yaml, load_yaml, validated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kit.cirun import CirunFile

ACCESS_FILE: Final = ".access.yml"


class Policy(Closed):
    """Who, in which repository. Anybody of the teams, the roles or the users may."""

    id: Text
    repo: Text
    """The repository's name, without its owner."""
    teams: tuple[Text, ...] | None = None
    roles: tuple[Text, ...] | None = None
    """Roles that a person must have on the repository, as in maintain."""
    users: tuple[Text, ...] | None = None
    pull_request: bool | None = None
    """Whether they may on a pull request too; cirun takes no for an answer where this is not stated."""


class Grant(Closed):
    """A runner, and whose it is."""

    resource: Text
    """The runner's name in `.cirun.global.yml`."""
    policies: Annotated[tuple[Text, ...], Field(min_length=1)]


class AccessFile(Closed):
    """The whole file."""

    version: Literal[1] = 1
    policies: Annotated[tuple[Policy, ...], Field(min_length=1)]
    access_control: Annotated[tuple[Grant, ...], Field(min_length=1)]


def read_access(text: str, source: str = ACCESS_FILE) -> AccessFile:
    """The file in `text`.

    Raises:
        FileError: it is not YAML, or says something that cirun does not read; every fault is named.

    """
    return validated(AccessFile, load_yaml(text, source), source)


def render_access(file: AccessFile, header: Sequence[str] = ()) -> str:
    """The file's text; the same file always gives the same."""
    return dump_yaml(file.model_dump(mode="json", exclude_none=True), header)


def judge_access(access: AccessFile, runners: CirunFile) -> tuple[Verdict, ...]:
    """Names that lead nowhere: cirun then refuses the runner, and the job waits a day for it."""
    found: list[Verdict] = []
    policies = [policy.id for policy in access.policies]
    names = [runner.name for runner in runners.runners]
    for position, policy in enumerate(access.policies):
        if not (policy.teams or policy.roles or policy.users):
            found.append(_error(f"policies[{position}]", f"{policy.id} lets nobody in", "state teams, roles or users"))
        if policies.index(policy.id) != position:
            found.append(_error(f"policies[{position}].id", f"{policy.id} stands twice", "give each policy one id"))
    for position, grant in enumerate(access.access_control):
        path = f"access_control[{position}]"
        if grant.resource not in names:
            found.append(
                _error(f"{path}.resource", f"no runner is called {grant.resource}", did_you_mean(grant.resource, names))
            )
        found += [
            _error(f"{path}.policies[{step}]", f"no policy has the id {name}", did_you_mean(name, policies))
            for step, name in enumerate(grant.policies)
            if name not in policies
        ]
    return tuple(found)


def _error(subject: str, reason: str, fix: str) -> Verdict:
    return Verdict(check="cirun", level=Level.ERROR, subject=subject, reason=reason, fix=fix)
