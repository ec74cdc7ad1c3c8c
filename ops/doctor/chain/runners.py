"""The runners as GitHub has them: groups, registrations, and the release of their software."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from gpu_ci.back_ends.registry import BACK_ENDS
from gpu_ci.knowledge.nearest import did_you_mean
from gpu_ci.knowledge.software.runner_releases import LEAST
from gpu_ci.knowledge.software.versions import dotted, parse
from ops.doctor.chain import sections
from ops.doctor.check import Chapter
from ops.doctor.finding import Finding, broken, doubtful, works
from ops.doctor.questions.machines import Expected, expected, found, has_machines
from ops.doctor.questions.repositories import repositories, scope
from ops.doctor.world.world import World

CHAPTER: Final = Chapter()


@CHAPTER.check(needs=("github-token",), applies=sections.organisation)
def runner_group(world: World) -> Iterator[Finding]:
    """Check that the runner groups exist and serve the repositories."""
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
                path,
                seen=f'{place.removeprefix("/orgs/")} has no runner group "{name}"',
                means="runners cannot register in a group that does not exist",
                fix=f"{did_you_mean(name, names)}; or create it in Actions, Runner groups",
            )
            continue
        faults = list(_faults(world, place, path, group))
        yield from faults
        if not faults:
            yield works(path, f'the group "{group["name"]}" serves the repositories')


def _stated(world: World) -> dict[str, str]:
    """Return the path of each stated group to its name."""
    settings = world.settings
    stated = {"arc.runner-group": settings.arc.runner_group} if settings.arc is not None else {}
    for name, offer in world.stack.offers.items():
        if offer.own is not None and offer.own.standing is not None:
            key = offer.own.standing.group_key or f"runners.{name}"
            stated[key] = offer.own.standing.group
    return stated


def _faults(world: World, place: str, path: str, group: dict[str, Any]) -> Iterator[Finding]:
    served = None
    if group["visibility"] == "selected":
        answer = world.github.ask(f"{place}/actions/runner-groups/{group['id']}/repositories")
        served = {one["full_name"].casefold() for one in (answer or {}).get("repositories", [])}
    for name in repositories(world):
        if served is not None and name.casefold() not in served:
            yield broken(
                path,
                seen=f'the runner group "{group["name"]}" does not include {name}',
                means="its jobs wait forever: GitHub does not offer them to runners of this group",
                fix="add the repository in the settings of the organisation, Actions, Runner groups",
            )
            continue
        repository = world.github.ask(f"/repos/{name}")
        if repository is not None and not repository["private"] and not group["allows_public_repositories"]:
            yield broken(
                path,
                seen=f'{name} is public, and the runner group "{group["name"]}" refuses public repositories',
                means="its jobs wait forever",
                fix="allow public repositories for the group; read docs/explanation/checks/untrusted-jobs.md before",
            )
    if group.get("restricted_to_workflows"):
        served_workflows = ", ".join(group.get("selected_workflows", [])) or "no workflow"
        yield doubtful(
            path,
            seen=f'the group "{group["name"]}" serves only {served_workflows}',
            means="jobs of other workflows, and of other branches than the listed ones, wait forever",
            fix="add the workflow to the group",
        )


@CHAPTER.check(needs=("github-token", "machine"), applies=has_machines)
def runner_online(world: World) -> Iterator[Finding]:
    """Check the registrations at GitHub of machines that run, and their labels."""
    place = scope(world.settings)
    answer = world.github.ask(f"{place}/actions/runners")
    if answer is None:
        yield broken(
            "github.url",
            seen=f"GitHub does not show the runners of {place.split('/', 2)[-1]}",
            means="the address is wrong, or the token is not of an administrator",
            fix="correct github.url, or give the token the permission that github-token names",
        )
        return
    for one in expected(world):
        yield _registration(world, one, [each for each in answer["runners"] if each["name"].startswith(one.title)])


def _registration(world: World, one: Expected, registered: list[dict[str, Any]]) -> Finding:
    subject, runner = f"runners.{one.runner}", world.settings.runners[one.runner]
    online = [each for each in registered if each["status"] == "online"]
    label = BACK_ENDS[runner.back_end].runs_on(one.runner, runner).label
    if not online:
        machine = found(world, one)
        state = machine.state if machine is not None else "deleted"
        if state == "running":
            names = ", ".join(f"{each['name']} ({each['status']})" for each in registered) or "no runner"
            return broken(
                subject,
                seen=f"the machine runs, and GitHub has {names}",
                means="the runner is not connected: its service failed, or HTTPS to GitHub is blocked",
                fix="read the log on the machine with `journalctl -u gpu-ci -u gpu-ci-job`; check egress-ports",
            )
        return works(subject, f"the machine is {state}, and GitHub has no runner of it online")
    without = [each for each in online if label.casefold() not in _labels(each)]
    if without:
        return broken(
            subject,
            seen=f"{without[0]['name']} is online with the labels {', '.join(sorted(_labels(without[0])))}",
            means=f"jobs with runs-on {label} do not reach it",
            fix="stop and start the machine: it registers again with the labels of the stack file",
        )
    busy = sum(bool(each["busy"]) for each in online)
    return works(subject, f"{online[0]['name']} is online{' and busy' if busy else ''}")


def _labels(registered: dict[str, Any]) -> set[str]:
    return {str(label["name"]).casefold() for label in registered["labels"]}


_DAYS: Final = 30
_SOON: Final = 7
"""Days before the end from which a release is reported."""
RELEASES: Final = "/repos/actions/runner/releases"
_FIX: Final = "build the image again, put its digest and its runner version into images, and run `pulumi up`"


@CHAPTER.check(
    needs=("github-token",),
    applies=lambda settings: any(image.runner is not None for image in settings.images.values()),
)
def runner_release(world: World) -> Iterator[Finding]:
    """Check that GitHub still gives jobs to the release of the runner in each image.

    A release gets no jobs thirty days after the next one appeared (GitHub, "Self-hosted runner minimum version
    enforcement", 2026). The plan compares with the newest release that gpu-ci knows; this check asks GitHub.
    """
    releases = world.github.ask(RELEASES) or []
    published = {
        parse(match[1])[:3]: datetime.fromisoformat(one["published_at"])
        for one in releases
        if not one["prerelease"] and (match := re.fullmatch(r"v(\d+\.\d+\.\d+)", one["tag_name"]))
    }
    for name, image in world.settings.images.items():
        if image.runner is not None:
            yield _release(f"images.{name}.runner", image.runner, published, world.now)


def _release(path: str, stated: str, published: dict[tuple[int, ...], datetime], now: datetime) -> Finding:
    version = parse(stated)[:3]
    newer = {release: at for release, at in published.items() if release > version}
    if version < LEAST:
        return broken(
            path,
            seen=f"the image has the runner {stated}",
            means=f"GitHub registers {dotted(LEAST)} and later only",
            fix=_FIX,
        )
    if not newer:
        return works(path, f"the runner {stated} is the newest release")
    following = min(newer)
    end = newer[following] + timedelta(days=_DAYS)
    facts: dict[str, Any] = {
        "seen": f"the image has the runner {stated}; {dotted(following)} appeared on {newer[following]:%Y-%m-%d}",
        "fix": _FIX,
    }
    if now >= end:
        return broken(path, means=f"since {end:%Y-%m-%d}, GitHub gives no jobs to {stated}", **facts)
    if now >= end - timedelta(days=_SOON):
        return doubtful(path, means=f"from {end:%Y-%m-%d}, GitHub gives no jobs to {stated}", **facts)
    return works(path, f"the runner {stated} gets jobs until {end:%Y-%m-%d}")
