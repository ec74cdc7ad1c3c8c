"""Check that GitHub accepts the runner in an image, and the one that a machine installs.

GitHub does not register runners older than 2.329.0, and gives no jobs to a runner that is more than thirty days behind
the newest release (GitHub, "Self-hosted runner minimum version enforcement", complete since 25 September 2026). The
newest known release is that of September 2026. A machine that exists between jobs updates its runner automatically.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gpu_ci.back_ends.stack import Stack
from gpu_ci.knowledge.software.runner_releases import LEAST, NEWEST
from gpu_ci.knowledge.software.versions import dotted, parse
from gpu_ci.knowledge.verdict import Verdict, error, ok, warning

CHECK: Final = "runner-version"

RUNNER_IMAGE: Final = "ghcr.io/actions/actions-runner"
"""GitHub's own image. Its tags are versions of the runner."""
NEWEST_KNOWN: Final = parse(NEWEST)[:3]
COMMAND: Final = "--entrypoint /home/runner/bin/Runner.Listener {} --version"
"""The options of `docker run` that print the version of the runner in an image."""
_FIX: Final = f"build the image on {RUNNER_IMAGE}:{dotted(NEWEST_KNOWN)} or later, and state that version"


def check(stack: Stack) -> Iterator[Verdict]:
    """Check the runner version of each image, stated or in the tag of GitHub's own image; and of each machine."""
    used = {offer.shared.image for offer in stack.offers.values() if offer.shared is not None}
    for name, image in stack.settings.images.items():
        if image.runner is not None:
            yield _version(f"images.{name}.runner", image.runner)
        elif image.reference == RUNNER_IMAGE and image.tag is not None and re.fullmatch(r"\d+\.\d+\.\d+", image.tag):
            yield _version(f"images.{name}.tag", image.tag)
        elif name in used:
            pin = f"@{image.digest}" if image.digest else f":{image.tag}"
            address = f"{image.reference or 'REGISTRY/' + name}{pin}"
            yield warning(
                CHECK,
                f"images.{name}",
                "no runner version is stated, and GitHub gives no jobs to old runners",
                f"state as images.{name}.runner what this command prints: docker run --rm {COMMAND.format(address)}",
            )

    for offer in stack.offers.values():
        if offer.own is not None and offer.own.standing is not None:
            yield _installed(offer.own.standing.runner_key or offer.path, offer.own.standing.runner)


def _installed(path: str, version: str) -> Verdict:
    """Check the release that a machine installs first."""
    if (refused := _too_old(path, version, f'write "{NEWEST}"')) is not None:
        return refused
    newer = "" if parse(version)[:3] >= NEWEST_KNOWN else f", and replaces it by {NEWEST} or later automatically"
    return ok(CHECK, path, f"the machine installs the runner {version}{newer}")


def _too_old(path: str, version: str, fix: str) -> Verdict | None:
    if parse(version.partition("+")[0])[:3] >= LEAST:
        return None
    reason = f"the runner {version} cannot register at GitHub, which accepts {dotted(LEAST)} and later"
    return error(CHECK, path, reason, fix)


def _version(path: str, version: str) -> Verdict:
    if (refused := _too_old(path, version, _FIX)) is not None:
        return refused
    if parse(version.partition("+")[0])[:3] < NEWEST_KNOWN:
        newest = dotted(NEWEST_KNOWN)
        reason = f"the runner {version} is behind {newest}; GitHub gives it no jobs thirty days after a newer release"
        return warning(CHECK, path, reason, _FIX)
    return ok(CHECK, path, f"the runner {version} is the newest known release or later")
