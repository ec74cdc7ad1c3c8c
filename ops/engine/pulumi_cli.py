"""The Pulumi CLI: on PATH, in the cache, downloaded or built.

`ops.engine.pulumi_cli_get` downloads and builds.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from ops.engine import pulumi_cli_get as get
from ops.engine.pulumi_cli_get import WANTED, Places
from ops.outcome import Exit, Stop

if TYPE_CHECKING:
    from ops.progress import Progress

MINIMUM: Final = (3, 206, 0)
"""The oldest usable CLI: from 3.206 it sends events over gRPC (`pulumi/automation/_stack.py`, 3.258)."""

Version: TypeAlias = tuple[int, int, int]


class Origin(StrEnum):
    """The origin of a CLI."""

    PATH = "PATH"
    CACHE = "cache"
    RELEASE = "release"
    BUILD = "build"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A usable CLI."""

    path: Path
    version: str
    """The version without the v."""
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failed attempt."""

    origin: Origin
    reason: str
    """The reason in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotFound:
    """No CLI, with the reason of each attempt."""

    failures: tuple[Failure, ...]

    def __str__(self) -> str:
        """Return one line for each attempt."""
        lines = [f"  {failure.origin}: {failure.reason}" for failure in self.failures]
        return "\n".join([f"no Pulumi CLI {WANTED} is available:", *lines])


def installed(places: Places | None = None) -> Found | NotFound:
    """Return an installed CLI, without a download or a build; the SDK's own minor version is preferred."""
    places = places or Places()
    on_path = _on_path(places.search_path)
    if isinstance(on_path, Found) and _minor(on_path.version) == _minor(WANTED):
        return on_path
    cached = _cached(places.cache)
    if isinstance(cached, Found):
        return cached
    if isinstance(on_path, Found):
        return on_path
    return NotFound(failures=(on_path, cached))


def find(progress: Progress, places: Places | None = None) -> Found | NotFound:
    """Return an installed CLI, or download or build one into the cache.

    Of two processes, one downloads and the other waits. An interrupt leaves nothing in the cache.
    """
    places = places or Places()
    present = installed(places)
    if isinstance(present, Found):
        return present
    failures = [failure for failure in present.failures if failure.origin is Origin.PATH]
    try:
        with _locked(places.cache, progress):
            meanwhile = _cached(places.cache)
            if isinstance(meanwhile, Found):
                return meanwhile
            for origin, fetch in ((Origin.RELEASE, get.download), (Origin.BUILD, get.build)):
                got = _get(origin, fetch, places, progress)
                if isinstance(got, Found):
                    return got
                failures.append(got)
    except OSError as error:
        failures.append(Failure(origin=Origin.CACHE, reason=f"{places.cache} cannot be used: {error}"))
    return NotFound(failures=tuple(failures))


def required(progress: Progress) -> Found:
    """Return a CLI as `find` does, or end the command with the reasons."""
    found = find(progress)
    if isinstance(found, NotFound):
        raise Stop(Exit.OUTSIDE, str(found))
    return found


def _on_path(search_path: str) -> Found | Failure:
    binary = shutil.which("pulumi", path=search_path)
    if binary is None:
        return Failure(origin=Origin.PATH, reason="there is no `pulumi`")
    version = _version(Path(binary))
    if version is None:
        return Failure(origin=Origin.PATH, reason=f"{binary} prints no version")
    if not MINIMUM <= version < (MINIMUM[0] + 1, 0, 0):
        wanted = ".".join(str(part) for part in MINIMUM)
        reason = f"{binary} is {_text(version)}, which is not {wanted} or a later {MINIMUM[0]}"
        return Failure(origin=Origin.PATH, reason=reason)
    return Found(path=Path(binary), version=_text(version), origin=Origin.PATH)


def _cached(cache: Path) -> Found | Failure:
    binary = cache / f"v{WANTED}" / "pulumi"
    version = _version(binary) if binary.is_file() else None
    if version is None or _text(version) != WANTED:
        return Failure(origin=Origin.CACHE, reason=f"{binary} does not exist")
    return Found(path=binary, version=WANTED, origin=Origin.CACHE)


def _get(origin: Origin, fetch: get.Fetch, places: Places, progress: Progress) -> Found | Failure:
    """Fetch into a folder next to the cached one, and move it in one step."""
    with tempfile.TemporaryDirectory(dir=places.cache, prefix=f".v{WANTED}-") as folder:
        fresh = Path(folder) / "bin"
        fresh.mkdir()
        try:
            fetch(places, fresh, progress)
        except get.UnavailableError as error:
            return Failure(origin=origin, reason=str(error))
        version = _version(fresh / "pulumi")
        if version is None or _text(version) != WANTED:
            printed = "nothing" if version is None else _text(version)
            return Failure(origin=origin, reason=f"the binary prints version {printed}, not {WANTED}")
        target = places.cache / f"v{WANTED}"
        shutil.rmtree(target, ignore_errors=True)
        fresh.replace(target)
    return Found(path=target / "pulumi", version=WANTED, origin=origin)


@contextlib.contextmanager
def _locked(cache: Path, progress: Progress) -> Generator[None]:
    """Lock the cache, and remove the leftovers of a killed process, whose lock the kernel releases."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"v{WANTED}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.stage(f"waiting for another process that installs the Pulumi CLI {WANTED}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        for leftover in cache.glob(f".v{WANTED}-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        yield


def _version(binary: Path) -> Version | None:
    """Return the version that the binary prints, or None if it cannot run."""
    try:
        output = subprocess.run(
            [binary, "version"],
            capture_output=True,
            check=True,
            env={**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"},
            text=True,
            timeout=60,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.match(r"v?(\d+)\.(\d+)\.(\d+)", output.strip())
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def _text(version: Version) -> str:
    return ".".join(str(part) for part in version)


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]
