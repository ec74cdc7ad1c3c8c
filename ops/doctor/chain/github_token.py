"""Check that GitHub accepts the token, and that it may read what the other checks ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.doctor.finding import doubtful, works
from ops.doctor.questions.repositories import repositories, scope
from ops.doctor.world.source import Unanswered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from gpu_ci.stack_file.sections.settings import Settings
    from ops.doctor.world.world import World

CHECK: Final = "github-token"
NEEDS: Final = ()
ANONYMOUS: Final = 60
"""Requests per hour without a token (GitHub, "Rate limits for the REST API", 2026)."""
SET: Final = "set GITHUB_TOKEN, for example to the output of `gh auth token`"

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


def applies(settings: Settings) -> bool:
    """Return whether the stack runs jobs."""
    return bool(settings.runners)


def check(world: World) -> Iterator[Verdict]:
    """Yield the state of the token, and a warning for each permission that it lacks."""
    limits = world.github.ask("/rate_limit")["resources"]["core"]
    if limits["limit"] <= ANONYMOUS:
        raise Unanswered("there is no token of GitHub in the environment", SET)
    found = list(_lacking(world))
    yield from found
    if not found:
        yield works(
            CHECK, "GITHUB_TOKEN", f"GitHub accepts the token; {limits['remaining']} requests are left this hour"
        )


def _lacking(world: World) -> Iterator[Verdict]:
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
                CHECK,
                "GITHUB_TOKEN",
                seen=f"the token cannot read {title} of {start.split('/', 2)[2]}: {seen}",
                means="checks that need them have no answer; GitHub answers 404 where a permission is missing, too",
                fix=f"give the token the {permission}; for a classic token, the scopes repo and admin:org",
            )
