"""Where the Pulumi CLI is: on PATH, in our cache, or got by one of two ways.

Owns the order of the ways, the cache and its lock. How a release is downloaded and how the CLI is built is
`ops.engine.pulumi_cli_get`. The wanted version is the installed SDK's own: the two speak one protocol.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.metadata
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Generator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, TypeAlias

from ops import cache
from ops.engine import pulumi_cli_get as get

WANTED: Final = importlib.metadata.version("pulumi")
"""The version that is got where none is found."""
MINIMUM: Final = (3, 206, 0)
"""The oldest CLI that will do: later than 3.205 it sends its events over gRPC, as the SDK asks of it
(`pulumi/automation/_stack.py`, 3.258); `destroy` with a program inside the caller needs 3.181."""

Version: TypeAlias = tuple[int, int, int]
Progress: TypeAlias = Callable[[str], None]
"""What is told, in one line, while something takes its time."""


class Way(StrEnum):
    """How a CLI was found."""

    PATH = "PATH"
    CACHE = "cache"
    RELEASE = "release"
    BUILD = "build"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A CLI that can be run."""

    path: Path
    """The binary."""
    version: str
    """Its version, without the v."""
    way: Way
    """Where it comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A way that led nowhere."""

    way: Way
    reason: str
    """One sentence: what was tried, and what was in the way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotFound:
    """No CLI: each way, and why it failed."""

    failures: tuple[Failure, ...]

    def __str__(self) -> str:
        """One line a way."""
        lines = [f"  {failure.way}: {failure.reason}" for failure in self.failures]
        return "\n".join([f"no Pulumi CLI {WANTED} is to be had:", *lines])


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """The places that are searched, and the sources that a CLI is got from."""

    search_path: str
    """As in `PATH`."""
    cache: Path
    """Our own folder in the user's cache; one folder a version inside."""
    sources: get.Sources
    """What is downloaded or built."""

    @classmethod
    def usual(cls) -> Where:
        """The machine's own places."""
        return cls(
            search_path=os.environ.get("PATH", ""),
            cache=cache.folder() / "pulumi",
            sources=get.Sources.official(WANTED),
        )


def at_hand(where: Where | None = None) -> Found | NotFound:
    """The CLI that is there already: nothing is downloaded or built.

    The best is one of the SDK's own minor version; where there is none, a newer or somewhat older one will do.
    """
    where = where or Where.usual()
    on_path = _on_path(where.search_path)
    if isinstance(on_path, Found) and _minor(on_path.version) == _minor(WANTED):
        return on_path
    cached = _cached(where.cache)
    if isinstance(cached, Found):
        return cached
    if isinstance(on_path, Found):
        return on_path
    return NotFound(failures=(on_path, cached))


def find(progress: Progress = lambda _line: None, where: Where | None = None) -> Found | NotFound:
    """The CLI, got into the cache where it is not at hand.

    Two processes may ask at once: one of them gets it, the other waits. An interruption leaves nothing behind.
    """
    where = where or Where.usual()
    there = at_hand(where)
    if isinstance(there, Found):
        return there
    failures = [failure for failure in there.failures if failure.way is Way.PATH]
    try:
        with _alone(where.cache, progress):
            meanwhile = _cached(where.cache)
            if isinstance(meanwhile, Found):
                return meanwhile
            for way, fetch in ((Way.RELEASE, get.download), (Way.BUILD, get.build)):
                got = _get(way, fetch, where, progress)
                if isinstance(got, Found):
                    return got
                failures.append(got)
    except OSError as error:
        failures.append(Failure(way=Way.CACHE, reason=f"{where.cache} cannot be used: {error}"))
    return NotFound(failures=tuple(failures))


def _on_path(search_path: str) -> Found | Failure:
    binary = shutil.which("pulumi", path=search_path)
    if binary is None:
        return Failure(way=Way.PATH, reason="no `pulumi` is there")
    version = _version(Path(binary))
    if version is None:
        return Failure(way=Way.PATH, reason=f"{binary} does not say its version")
    if not MINIMUM <= version < (MINIMUM[0] + 1, 0, 0):
        wanted = ".".join(str(part) for part in MINIMUM)
        reason = f"{binary} is {_text(version)}, which is not {wanted} or a later {MINIMUM[0]}"
        return Failure(way=Way.PATH, reason=reason)
    return Found(path=Path(binary), version=_text(version), way=Way.PATH)


def _cached(cache: Path) -> Found | Failure:
    binary = cache / f"v{WANTED}" / "pulumi"
    version = _version(binary) if binary.is_file() else None
    if version is None or _text(version) != WANTED:
        return Failure(way=Way.CACHE, reason=f"{binary} is not there")
    return Found(path=binary, version=WANTED, way=Way.CACHE)


def _get(way: Way, fetch: get.Fetch, where: Where, progress: Progress) -> Found | Failure:
    """Fetch into a folder beside the cached one, and move it there in one step."""
    with tempfile.TemporaryDirectory(dir=where.cache, prefix=f".v{WANTED}-") as folder:
        fresh = Path(folder) / "bin"
        fresh.mkdir()
        try:
            fetch(where.sources, fresh, progress)
        except get.NotToBeHadError as error:
            return Failure(way=way, reason=str(error))
        version = _version(fresh / "pulumi")
        if version is None or _text(version) != WANTED:
            says = "nothing" if version is None else _text(version)
            return Failure(way=way, reason=f"what was got says its version is {says}, not {WANTED}")
        target = where.cache / f"v{WANTED}"
        shutil.rmtree(target, ignore_errors=True)
        fresh.replace(target)
    return Found(path=target / "pulumi", version=WANTED, way=way)


@contextlib.contextmanager
def _alone(cache: Path, progress: Progress) -> Generator[None]:
    """Hold the cache's lock, and clear away what a killed process left. The kernel frees the lock of the dead."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"v{WANTED}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"waiting for another process that is getting the Pulumi CLI {WANTED}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        for left in cache.glob(f".v{WANTED}-*"):
            shutil.rmtree(left, ignore_errors=True)
        yield


def _version(binary: Path) -> Version | None:
    """What the binary says of itself, or nothing if it cannot be run."""
    try:
        said = subprocess.run(
            [binary, "version"],
            capture_output=True,
            check=True,
            env={**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"},
            text=True,
            timeout=60,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.match(r"v?(\d+)\.(\d+)\.(\d+)", said.strip())
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def _text(version: Version) -> str:
    return ".".join(str(part) for part in version)


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]
