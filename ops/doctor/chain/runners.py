"""Check that the runner groups exist and serve the repositories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gpu_ci.knowledge.nearest import did_you_mean
from ops.doctor.finding import broken, doubtful, works
from ops.doctor.questions.repositories import repositories, scope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from gpu_ci.stack_file.sections.settings import Settings
    from ops.doctor.world.world import World

CHECK: Final = "runner-group"
NEEDS: Final = ("github-token",)


def applies(settings: Settings) -> bool:
    """Return whether an organisation has the runners: a repository has only the default group."""
    return scope(settings).startswith("/orgs/")


def check(world: World) -> Iterator[Verdict]:
    """Yield a verdict for each group that the stack file names."""
    place = scope(world.settings)
    answer = world.github.ask(f"{place}/actions/runner-groups")
    if answer is None:
        return
    found = {str(one["name"]).casefold(): one for one in answer["runner_groups"]}
    names = [str(one["name"]) for one in found.values()]
    for path, name in _stated(world).items():
        group = found.get(name.casefold())
        if group is None:
            yield broken(
                CHECK,
                path,
                seen=f'{place.removeprefix("/orgs/")} has no runner group "{name}"',
                means="runners cannot register in a group that does not exist",
                fix=f"{did_you_mean(name, names)}; or create it in Actions, Runner groups",
            )
            continue
        faults = list(_faults(world, place, path, group))
        yield from faults
        if not faults:
            yield works(CHECK, path, f'the group "{group["name"]}" serves the repositories')


def _stated(world: World) -> dict[str, str]:
    """Return the path of each stated group to its name."""
    settings = world.settings
    stated = {"arc.runner-group": settings.arc.runner_group} if settings.arc is not None else {}
    for name, offer in world.stack.offers.items():
        if offer.own is not None and offer.own.standing is not None:
            key = offer.own.standing.group_key or f"runners.{name}"
            stated[key] = offer.own.standing.group
    return stated


def _faults(world: World, place: str, path: str, group: dict[str, Any]) -> Iterator[Verdict]:
    served = None
    if group["visibility"] == "selected":
        answer = world.github.ask(f"{place}/actions/runner-groups/{group['id']}/repositories")
        served = {one["full_name"].casefold() for one in (answer or {}).get("repositories", [])}
    for name in repositories(world):
        if served is not None and name.casefold() not in served:
            yield broken(
                CHECK,
                path,
                seen=f'the runner group "{group["name"]}" does not include {name}',
                means="its jobs wait forever: GitHub does not offer them to runners of this group",
                fix="add the repository in the settings of the organisation, Actions, Runner groups",
            )
            continue
        repository = world.github.ask(f"/repos/{name}")
        if repository is not None and not repository["private"] and not group["allows_public_repositories"]:
            yield broken(
                CHECK,
                path,
                seen=f'{name} is public, and the runner group "{group["name"]}" refuses public repositories',
                means="its jobs wait forever",
                fix="allow public repositories for the group; read docs/explanation/checks/untrusted-jobs.md before",
            )
    if group.get("restricted_to_workflows"):
        served_workflows = ", ".join(group.get("selected_workflows", [])) or "no workflow"
        yield doubtful(
            CHECK,
            path,
            seen=f'the group "{group["name"]}" serves only {served_workflows}',
            means="jobs of other workflows, and of other branches than the listed ones, wait forever",
            fix="add the workflow to the group",
        )
