"""The places at GitHub that a stack refers to: where its runners register, and the repositories that use them."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from gpu_ci.stack_file.sections.settings import Settings
from ops.doctor.world.world import World
from ops.kit import stack as kit

OF_ORGANISATION = "organisation/"
"""The start of paths of generated files for the repository `.cirun` of an organisation."""


def scope(settings: Settings) -> str:
    """Return the path of the API where runners register, as in `/orgs/acme`; empty without the section `github`."""
    if settings.github is None:
        return ""
    path = urlsplit(settings.github.url).path.strip("/")
    if path.startswith("enterprises/"):
        return f"/{path}"
    return f"/repos/{path}" if "/" in path else f"/orgs/{path}"


def owner(world: World) -> str:
    """Return the owner of the repositories; empty where the stack file does not state one."""
    if world.repository:
        return world.repository.partition("/")[0]
    place = scope(world.settings)
    return place.split("/")[2] if place.startswith(("/orgs/", "/repos/")) else ""


def repositories(world: World) -> tuple[str, ...]:
    """Return the repositories that use the runners, with their owner: the requested one, or those of the stack file."""
    if world.repository:
        return (world.repository,)
    place = scope(world.settings)
    if place.startswith("/repos/"):
        return (place.removeprefix("/repos/"),)
    names = dict.fromkeys(_named(world.settings))
    return tuple(f"{owner(world)}/{name}" for name in names) if owner(world) else ()


def _named(settings: Settings) -> Iterator[str]:
    """Yield the repositories in the stack file, without their owner."""
    yield from settings.gpu_tests
    if settings.cirun is not None:
        yield from (entry.repository for entry in settings.cirun.access.values())
    for runner in settings.runners.values():
        for section in runner.stated.values():
            if (repository := getattr(section, "repository", None)) is not None:
                yield repository.name


def files(world: World, repository: str) -> Mapping[str, str]:
    """Return the files that `make kit` writes for a repository."""
    return kit.files(world.settings, world.stack.identity, repository=repository.partition("/")[2])


def content(world: World, repository: str, path: str) -> str | None:
    """Return a file of the default branch; None if it does not exist."""
    answer: Any = world.github.ask(f"/repos/{repository}/contents/{quote(path)}")
    if not isinstance(answer, dict) or answer.get("encoding") != "base64":
        return None
    return base64.b64decode(answer["content"]).decode(errors="replace")
