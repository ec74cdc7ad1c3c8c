"""Download of a Pulumi CLI release, checked against its published checksum, or a build from its Go module."""

from __future__ import annotations

import hashlib
import http.client
import importlib.metadata
import os
import platform
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, TypeAlias

from ops import cache

if TYPE_CHECKING:
    from ops.progress import Progress

WANTED: Final = importlib.metadata.version("pulumi")
"""The version that is downloaded or built: that of the SDK, since both use one protocol."""
_TIMEOUT: Final = 10.0
"""Seconds without an answer until a download fails."""
_SYSTEMS: Final = {"linux": "linux", "darwin": "darwin"}
_MACHINES: Final = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
_PACKAGE: Final = "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
_VERSION_SYMBOL: Final = "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version"
MODULE: Final = Path(__file__).resolve().parents[2] / "tools" / "pulumi-cli"


class UnavailableError(Exception):
    """A download or a build failed; the message is the reason in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The places of a CLI. The sums come from another host than the archives, so that one host cannot fake both."""

    search_path: str = field(default_factory=lambda: os.environ.get("PATH", ""))
    """The places to search for `pulumi` and `go`, in the form of `PATH`."""
    cache: Path = field(default_factory=lambda: cache.folder() / "pulumi")
    """A folder in the user's cache, with one folder for each version."""
    archives: str = "https://get.pulumi.com/releases/sdk"
    """The base URL of the release archives."""
    checksums: str = f"https://github.com/pulumi/pulumi/releases/download/v{WANTED}/pulumi-{WANTED}-checksums.txt"
    """The URL of their SHA-256 sums."""
    module: Path = MODULE
    """The Go module that requires the CLI, with its go.sum."""


Fetch: TypeAlias = Callable[[Places, Path, "Progress"], None]
"""Puts a binary called `pulumi` into a folder and reports its progress."""


def download(places: Places, folder: Path, progress: Progress) -> None:
    """Unpack the official release into `folder`.

    Raises:
        UnavailableError: there is no network, no such release, or its checksum is wrong.

    """
    archive = f"pulumi-v{WANTED}-{_platform()}.tar.gz"
    progress.stage(f"downloading {archive}")
    wanted = _published_sum(places, archive)
    with tempfile.TemporaryFile() as file:
        url = f"{places.archives}/{archive}"
        got = _fetch(url, file, lambda share: progress.step(f"downloading {archive}: {share}"))
        if got != wanted:
            raise UnavailableError(
                f"{archive} has the SHA-256 {got}, but the published one is {wanted}; it is discarded"
            )
        file.seek(0)
        _unpack(file, folder, archive)


def _platform() -> str:
    system, machine = _SYSTEMS.get(sys.platform), _MACHINES.get(platform.machine().lower())
    if system is None or machine is None:
        raise UnavailableError(f"there is no release for {sys.platform} on {platform.machine()}")
    return f"{system}-{machine}"


def _published_sum(places: Places, archive: str) -> str:
    with tempfile.TemporaryFile() as file:
        _fetch(places.checksums, file, lambda _share: None)
        file.seek(0)
        lines = file.read().decode(errors="replace").splitlines()
    sums = {name.lstrip("*"): sum_ for sum_, name in (line.split() for line in lines if len(line.split()) == 2)}
    if archive not in sums:
        raise UnavailableError(f"{places.checksums} names no {archive}")
    return sums[archive]


def _fetch(url: str, file: IO[bytes], progress: Callable[[str], None]) -> str:
    """Copy the content of `url` into `file` and return its SHA-256."""
    digest = hashlib.sha256()
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT) as response:  # noqa: S310  # the addresses are our own
            total = int(response.headers.get("Content-Length") or 0)
            done, shown = 0, -1
            while block := response.read(1 << 20):
                digest.update(block)
                file.write(block)
                done += len(block)
                if total and (share := done * 10 // total) != shown:
                    shown = share
                    progress(f"{share * 10} %")
    except (OSError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise UnavailableError(f"{url} cannot be fetched: {reason}") from None
    return digest.hexdigest()


def _unpack(file: IO[bytes], folder: Path, archive: str) -> None:
    """Unpack the files of the archive's one folder: the CLI and the language hosts."""
    try:
        with tarfile.open(fileobj=file, mode="r:gz") as tar:
            for member in tar:
                content = tar.extractfile(member) if member.isfile() else None
                if content is not None:
                    # The filters of `extract` need Python 3.11.4; Debian 12 has 3.11.2.
                    path = folder / Path(member.name).name
                    with path.open("xb") as unpacked:
                        shutil.copyfileobj(content, unpacked)
                    path.chmod(member.mode & 0o755)
    except tarfile.TarError as error:
        raise UnavailableError(f"{archive} cannot be unpacked: {error}") from None


def build(places: Places, folder: Path, progress: Progress) -> None:
    """Build the CLI from its Go module into `folder`; this takes minutes.

    Raises:
        UnavailableError: there is no Go, or the build failed.

    """
    go = shutil.which("go", path=places.search_path)
    if go is None:
        raise UnavailableError("a build from the Go module needs `go` on PATH")
    what = f"building the Pulumi CLI {WANTED} from its Go module"
    progress.stage(f"{what} (about four minutes on two cores, 2.2 GB)")
    flags = f"-s -w -X {_VERSION_SYMBOL}=v{WANTED}"
    command = [go, "build", "-mod=readonly", "-ldflags", flags, "-o", str(folder / "pulumi"), _PACKAGE]
    with tempfile.TemporaryFile("w+") as output:
        started = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=places.module,
            env={**os.environ, "GOWORK": "off"},
            start_new_session=True,
            stderr=output,
            stdout=subprocess.DEVNULL,
        )
        try:
            code = _wait(process, lambda: progress.step(f"{what}: {time.monotonic() - started:.0f} s"))
        except BaseException:
            # The compilers are children of `go`, so the whole process group is killed.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            # `Popen.wait` could block forever: an interrupt can leave its lock taken.
            with suppress(ChildProcessError):
                os.waitpid(process.pid, 0)
            raise
        if code:
            output.seek(0)
            lines = output.read().strip().splitlines() or [f"exit code {code}"]
            raise UnavailableError(f"`go build` failed: {' / '.join(lines[-3:])}")


def _wait(process: subprocess.Popen[bytes], report: Callable[[], None]) -> int:
    while True:
        try:
            return process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            report()
