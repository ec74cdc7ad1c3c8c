"""The token of the doctor at GitHub, and the GitHub App that registers runners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ops.doctor.chain import sections
from ops.doctor.check import Chapter
from ops.doctor.finding import Finding, broken, doubtful, works
from ops.doctor.questions.repositories import repositories, scope
from ops.doctor.world.source import Unanswered
from ops.doctor.world.world import World

CHAPTER: Final = Chapter()

_ANONYMOUS: Final = 60
"""Requests per hour without a token (GitHub, "Rate limits for the REST API", 2026)."""
_SET: Final = "set GITHUB_TOKEN, for example to the output of `gh auth token`"
_OF_ORGANISATION: Final = (
    ("actions/runners", "the runners", "organisation permission: self-hosted runners, read"),
    ("actions/runner-groups", "the runner groups", "organisation permission: self-hosted runners, read"),
)
_OF_SCOPE: Final = (("actions/runners", "the runners", "repository permission: administration, read"),)
_OF_REPOSITORY: Final = (
    ("actions/runs", "the workflow runs", "repository permission: actions, read"),
    ("actions/variables", "the variables", "repository permission: variables, read"),
    ("actions/secrets", "the names of secrets", "repository permission: secrets, read"),
    ("environments", "the environments", "repository permission: actions, read"),
)
"""Part of a path, its meaning, and the permission of a fine-grained token (GitHub's REST reference, 2026)."""


@CHAPTER.check(applies=sections.runners)
def github_token(world: World) -> Iterator[Finding]:
    """Check that GitHub accepts the token, and that it may read what the other checks ask."""
    limits = world.github.ask("/rate_limit")["resources"]["core"]
    if limits["limit"] <= _ANONYMOUS:
        raise Unanswered("there is no token of GitHub in the environment", _SET)
    found = list(_lacking(world))
    yield from found
    if not found:
        yield works("GITHUB_TOKEN", f"GitHub accepts the token; {limits['remaining']} requests are left this hour")


def _lacking(world: World) -> Iterator[Finding]:
    place = scope(world.settings)
    asked = [(place, row) for row in (_OF_ORGANISATION if place.startswith("/orgs/") else _OF_SCOPE) if place]
    asked += [(f"/repos/{name}", row) for name in repositories(world) for row in _OF_REPOSITORY]
    for start, (path, title, permission) in asked:
        try:
            seen = "404" if world.github.ask(f"{start}/{path}") is None else ""
        except Unanswered as fault:
            seen = fault.reason
        if seen:
            yield doubtful(
                "GITHUB_TOKEN",
                seen=f"the token cannot read {title} of {start.split('/', 2)[2]}: {seen}",
                means="checks that need them have no answer; GitHub answers 404 where a permission is missing, too",
                fix=f"give the token the {permission}; for a classic token, the scopes repo and admin:org",
            )


@CHAPTER.check(needs=("github-token",), applies=sections.organisation)
def github_app(world: World) -> Iterator[Finding]:
    """Check the installation of the GitHub App that registers runners."""
    stated = world.settings.github
    if stated is None:
        return
    place = scope(world.settings)
    answer = world.github.ask(f"{place}/installations")
    if answer is None:
        yield doubtful(
            "github.installation-id",
            seen=f"GitHub does not show the installations of {place.removeprefix('/orgs/')}",
            means="the token is not of an owner of the organisation, so the App cannot be checked",
            fix="use the token of an owner, with the scope admin:org",
        )
        return
    found = {one["id"]: one for one in answer["installations"]}
    if stated.installation_id not in found:
        of_app = [str(id_) for id_, one in found.items() if one["app_id"] == stated.app_id]
        yield broken(
            "github.installation-id",
            seen=f"{place.removeprefix('/orgs/')} has no installation {stated.installation_id}",
            means="no runner can register: the App was never installed here, or was removed",
            fix=f"state installation-id: {of_app[0]}"
            if of_app
            else f"install the App {stated.app_id} in the organisation",
        )
        return
    faults = list(_faults(found[stated.installation_id], stated.app_id))
    yield from faults
    if not faults:
        slug = found[stated.installation_id].get("app_slug", stated.app_id)
        yield works("github.installation-id", f"the App {slug} is installed and may register runners")


def _faults(one: dict[str, Any], app_id: int) -> Iterator[Finding]:
    if one["app_id"] != app_id:
        yield broken(
            "github.app-id",
            seen=f"installation {one['id']} is of the App {one['app_id']}, and the stack file states {app_id}",
            means="GitHub refuses the key: it is of another App",
            fix=f"state app-id: {one['app_id']}, and set the key of that App",
        )
    if one.get("suspended_at"):
        yield broken(
            "github.installation-id",
            seen=f"the installation is suspended since {one['suspended_at']}",
            means="GitHub refuses every request of a suspended App",
            fix="unsuspend it in the settings of the organisation, GitHub Apps",
        )
    granted = one.get("permissions", {}).get("organization_self_hosted_runners")
    if granted != "write":
        yield broken(
            "github.installation-id",
            seen=f"the permission for self-hosted runners of the organisation is {granted or 'not granted'}",
            means="the App cannot register runners or scale sets",
            fix="give the App the organisation permission: self-hosted runners, read and write; accept it as an owner",
        )
