"""Getting a Pulumi CLI: the official release against its published checksum, or a build from its Go module.

Owns the two ways. Where the result is kept, and which way is tried first, is `ops.engine.pulumi_cli`.
"""

from __future__ import annotations

import hashlib
import http.client
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
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, TypeAlias

_PATIENCE: Final = 10.0
"""Seconds without an answer after which there is no network as far as we are concerned."""
_SYSTEMS: Final = {"linux": "linux", "darwin": "darwin"}
_MACHINES: Final = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
_PACKAGE: Final = "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
_VERSION_SYMBOL: Final = "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version"
_MODULE: Final = Path(__file__).resolve().parents[2] / "tools" / "pulumi-cli"


class NotToBeHadError(Exception):
    """A way that led nowhere, with the reason in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What a CLI is got from."""

    version: str
    """Which one."""
    archives: str
    """The address under which the releases' archives stand."""
    checksums: str
    """The file of the release's SHA-256 sums; on another host than the archive, so that one host cannot fake both."""
    module: Path
    """The Go module that names the CLI, with every sum in its go.sum."""
    search_path: str
    """Where `go` is looked for, as in `PATH`."""

    @classmethod
    def official(cls, version: str) -> Sources:
        """Pulumi's own places."""
        releases = "https://github.com/pulumi/pulumi/releases/download"
        return cls(
            version=version,
            archives="https://get.pulumi.com/releases/sdk",
            checksums=f"{releases}/v{version}/pulumi-{version}-checksums.txt",
            module=_MODULE,
            search_path=os.environ.get("PATH", ""),
        )


Fetch: TypeAlias = Callable[[Sources, Path, Callable[[str], None]], None]
"""Puts a binary called `pulumi` into a folder, telling how far it is."""


def download(sources: Sources, folder: Path, progress: Callable[[str], None]) -> None:
    """Unpack the official release into `folder`.

    Raises:
        NotToBeHadError: there is no network, no such release, or it is not what was published.

    """
    archive = f"pulumi-v{sources.version}-{_platform()}.tar.gz"
    progress(f"downloading {archive}")
    wanted = _published_sum(sources, archive)
    with tempfile.TemporaryFile() as file:
        got = _fetch(f"{sources.archives}/{archive}", file, lambda share: progress(f"downloading {archive}: {share}"))
        if got != wanted:
            raise NotToBeHadError(f"{archive} has the SHA-256 {got}, but {wanted} was published; it was thrown away")
        file.seek(0)
        _unpack(file, folder, archive)


def _platform() -> str:
    system, machine = _SYSTEMS.get(sys.platform), _MACHINES.get(platform.machine().lower())
    if system is None or machine is None:
        raise NotToBeHadError(f"there is no release for {sys.platform} on {platform.machine()}")
    return f"{system}-{machine}"


def _published_sum(sources: Sources, archive: str) -> str:
    with tempfile.TemporaryFile() as file:
        _fetch(sources.checksums, file, lambda _share: None)
        file.seek(0)
        lines = file.read().decode(errors="replace").splitlines()
    sums = {name.lstrip("*"): sum_ for sum_, name in (line.split() for line in lines if len(line.split()) == 2)}
    if archive not in sums:
        raise NotToBeHadError(f"{sources.checksums} names no {archive}")
    return sums[archive]


def _fetch(url: str, file: IO[bytes], progress: Callable[[str], None]) -> str:
    """Copy what stands at `url` into `file` and return its SHA-256."""
    digest = hashlib.sha256()
    try:
        with urllib.request.urlopen(url, timeout=_PATIENCE) as response:  # noqa: S310  # the addresses are our own
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
        raise NotToBeHadError(f"{url} cannot be fetched: {reason}") from None
    return digest.hexdigest()


def _unpack(file: IO[bytes], folder: Path, archive: str) -> None:
    """The files of the archive's one folder, flat: the CLI, and the language hosts it looks for beside itself."""
    try:
        with tarfile.open(fileobj=file, mode="r:gz") as tar:
            for member in tar:
                content = tar.extractfile(member) if member.isfile() else None
                if content is not None:
                    # By hand: what `extract` needs to be safe came with Python 3.11.4, and Debian 12 has 3.11.2.
                    path = folder / Path(member.name).name
                    with path.open("xb") as unpacked:
                        shutil.copyfileobj(content, unpacked)
                    path.chmod(member.mode & 0o755)
    except tarfile.TarError as error:
        raise NotToBeHadError(f"{archive} cannot be unpacked: {error}") from None


def build(sources: Sources, folder: Path, progress: Callable[[str], None]) -> None:
    """Build the CLI from its Go module into `folder`; minutes, told as they pass.

    Raises:
        NotToBeHadError: there is no Go, or the build failed.

    """
    go = shutil.which("go", path=sources.search_path)
    if go is None:
        raise NotToBeHadError("it would be built from its Go module, but no `go` is on PATH")
    what = f"building the Pulumi CLI {sources.version} from its Go module (about four minutes on two cores, 2.2 GB)"
    progress(what)
    flags = f"-s -w -X {_VERSION_SYMBOL}=v{sources.version}"
    command = [go, "build", "-mod=readonly", "-ldflags", flags, "-o", str(folder / "pulumi"), _PACKAGE]
    with tempfile.TemporaryFile("w+") as said:
        started = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=sources.module,
            env={**os.environ, "GOWORK": "off"},
            start_new_session=True,
            stderr=said,
            stdout=subprocess.DEVNULL,
        )
        try:
            code = _wait(process, lambda: progress(f"{what}: {time.monotonic() - started:.0f} s so far"))
        except BaseException:
            # Go's compilers are children of `go`: the whole group goes, or they would build on for nobody.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        if code:
            said.seek(0)
            lines = said.read().strip().splitlines() or [f"exit code {code}"]
            raise NotToBeHadError(f"`go build` failed: {' / '.join(lines[-3:])}")


def _wait(process: subprocess.Popen[bytes], tell: Callable[[], None]) -> int:
    while True:
        try:
            return process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            tell()
