"""Check the installation of the GitHub App that registers runners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ops.doctor.finding import broken, doubtful, works
from ops.doctor.questions.repositories import scope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from gpu_ci.stack_file.sections.settings import Settings
    from ops.doctor.world.world import World

CHECK: Final = "github-app"
NEEDS: Final = ("github-token",)


def applies(settings: Settings) -> bool:
    """Return whether an organisation's installation registers the runners. Only that is visible to a token."""
    return scope(settings).startswith("/orgs/")


def check(world: World) -> Iterator[Verdict]:
    """Yield faults of the installation: missing, of another App, suspended, or without its permission."""
    stated = world.settings.github
    if stated is None:
        return
    place = scope(world.settings)
    answer = world.github.ask(f"{place}/installations")
    if answer is None:
        yield doubtful(
            CHECK,
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
            CHECK,
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
        yield works(CHECK, "github.installation-id", f"the App {slug} is installed and may register runners")


def _faults(one: dict[str, Any], app_id: int) -> Iterator[Verdict]:
    if one["app_id"] != app_id:
        yield broken(
            CHECK,
            "github.app-id",
            seen=f"installation {one['id']} is of the App {one['app_id']}, and the stack file states {app_id}",
            means="GitHub refuses the key: it is of another App",
            fix=f"state app-id: {one['app_id']}, and set the key of that App",
        )
    if one.get("suspended_at"):
        yield broken(
            CHECK,
            "github.installation-id",
            seen=f"the installation is suspended since {one['suspended_at']}",
            means="GitHub refuses every request of a suspended App",
            fix="unsuspend it in the settings of the organisation, GitHub Apps",
        )
    granted = one.get("permissions", {}).get("organization_self_hosted_runners")
    if granted != "write":
        yield broken(
            CHECK,
            "github.installation-id",
            seen=f"the permission for self-hosted runners of the organisation is {granted or 'not granted'}",
            means="the App cannot register runners or scale sets",
            fix="give the App the organisation permission: self-hosted runners, read and write; accept it as an owner",
        )
