"""Check that GitHub still gives jobs to the release of the runner in each image.

A release gets no jobs thirty days after the next one appeared (GitHub, "Self-hosted runner minimum version
enforcement", 2026). The plan compares with the newest release that gpu-ci knows; this check asks GitHub.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from gpu_ci.knowledge.software.runner_releases import LEAST
from gpu_ci.knowledge.software.versions import dotted, parse
from ops.doctor.finding import broken, doubtful, works

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from gpu_ci.stack_file.sections.settings import Settings
    from ops.doctor.world.world import World

CHECK: Final = "runner-release"
NEEDS: Final = ("github-token",)
DAYS: Final = 30
SOON: Final = 7
"""Days before the end from which a release is reported."""
RELEASES: Final = "/repos/actions/runner/releases"
_FIX: Final = "build the image again, put its digest and its runner version into images, and run `pulumi up`"


def applies(settings: Settings) -> bool:
    """Return whether an image states the release of its runner."""
    return any(image.runner is not None for image in settings.images.values())


def check(world: World) -> Iterator[Verdict]:
    """Yield a verdict for each image with a stated runner."""
    releases = world.github.ask(RELEASES) or []
    published = {
        parse(match[1])[:3]: datetime.fromisoformat(one["published_at"])
        for one in releases
        if not one["prerelease"] and (match := re.fullmatch(r"v(\d+\.\d+\.\d+)", one["tag_name"]))
    }
    for name, image in world.settings.images.items():
        if image.runner is not None:
            yield _verdict(f"images.{name}.runner", image.runner, published, world.now)


def _verdict(path: str, stated: str, published: dict[tuple[int, ...], datetime], now: datetime) -> Verdict:
    version = parse(stated)[:3]
    newer = {release: at for release, at in published.items() if release > version}
    if version < LEAST:
        return broken(
            CHECK,
            path,
            seen=f"the image has the runner {stated}",
            means=f"GitHub registers {dotted(LEAST)} and later only",
            fix=_FIX,
        )
    if not newer:
        return works(CHECK, path, f"the runner {stated} is the newest release")
    following = min(newer)
    end = newer[following] + timedelta(days=DAYS)
    facts: dict[str, Any] = {
        "seen": f"the image has the runner {stated}; {dotted(following)} appeared on {newer[following]:%Y-%m-%d}",
        "fix": _FIX,
    }
    if now >= end:
        return broken(CHECK, path, means=f"since {end:%Y-%m-%d}, GitHub gives no jobs to {stated}", **facts)
    if now >= end - timedelta(days=SOON):
        return doubtful(CHECK, path, means=f"from {end:%Y-%m-%d}, GitHub gives no jobs to {stated}", **facts)
    return works(CHECK, path, f"the runner {stated} gets jobs until {end:%Y-%m-%d}")
