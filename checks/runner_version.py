"""Whether GitHub still takes the runner that an image carries.

A runner older than 2.329.0 cannot register, and one that is more than thirty days behind the newest release is given
no jobs (GitHub, "Self-hosted runner minimum version enforcement", in full since 25 September 2026). What was released
since this table was written no plan can know: the newest release known here is that of September 2026.
"""

from __future__ import annotations

from typing import Final

from gpu.verdict import Level, Verdict

CHECK = "runner-version"

RUNNER_IMAGE: Final = "ghcr.io/actions/actions-runner"
"""GitHub's own image, tagged by the version of its runner."""
LEAST: Final = (2, 329, 0)
NEWEST_KNOWN: Final = (2, 337, 0)


def runner_version(path: str, version: str) -> Verdict:
    """Judge one image's runner; `path` is where its version is stated."""
    stated = tuple(int(part) for part in version.split(".")[:3])
    if stated < LEAST:
        reason = f"the runner {version} cannot register at GitHub, which takes {_text(LEAST)} and later"
        return _verdict(Level.ERROR, path, reason, _way_out())
    if stated < NEWEST_KNOWN:
        reason = (
            f"the runner {version} is behind {_text(NEWEST_KNOWN)}, and is given no jobs thirty days after a release"
        )
        return _verdict(Level.WARNING, path, reason, _way_out())
    return _verdict(Level.OK, path, f"the runner {version} is as new as any that is known here")


def _way_out() -> str:
    return f"build the image on {RUNNER_IMAGE}:{_text(NEWEST_KNOWN)} or later, and state what it has"


def _text(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _verdict(level: Level, path: str, reason: str, fix: str = "") -> Verdict:
    return Verdict(check=CHECK, level=level, subject=path, reason=reason, fix=fix)
