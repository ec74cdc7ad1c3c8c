"""The search for a Pulumi CLI, with stubs for the network, Go and the CLI."""

from __future__ import annotations

import functools
import hashlib
import http.server
import io
import re
import signal
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from ops.engine import pulumi_cli
from ops.engine import pulumi_cli_get as get
from ops.engine.pulumi_cli import MINIMUM, Found, NotFound, Origin
from ops.engine.pulumi_cli_get import WANTED, Places
from ops.progress import Progress

pytestmark = pytest.mark.pure

ROOT = Path(__file__).resolve().parents[2]


def script(path: Path, body: str) -> Path:
    """Write an executable."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def prints(version: str) -> str:
    return f"echo v{version}"


class Machine:
    """A machine without a CLI, a network and Go, until a test adds them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.path = folder / "path"
        self.go_path = folder / "go"
        self.releases = folder / "releases"
        self.url = "http://127.0.0.1:9"
        self.log = io.StringIO()

    @property
    def places(self) -> Places:
        return Places(
            search_path=f"{self.path}:{self.go_path}",
            cache=self.cache,
            archives=self.url,
            checksums=f"{self.url}/checksums.txt",
            module=self.folder,
        )

    def find(self) -> Found | NotFound:
        return pulumi_cli.find(Progress(Console(file=self.log)), self.places)

    def release(self, version: str, *, checksum: str | None = None) -> None:
        """Publish a release with its own checksum or another one."""
        self.releases.mkdir(exist_ok=True)
        name = f"pulumi-v{WANTED}-{get._platform()}.tar.gz"
        body = io.BytesIO()
        with tarfile.open(fileobj=body, mode="w:gz") as tar:
            member = tarfile.TarInfo("pulumi/pulumi")
            text = f"#!/bin/sh\n{prints(version)}\n".encode()
            member.size, member.mode = len(text), 0o755
            tar.addfile(member, io.BytesIO(text))
        (self.releases / name).write_bytes(body.getvalue())
        digest = checksum or hashlib.sha256(body.getvalue()).hexdigest()
        (self.releases / "checksums.txt").write_text(f"{'0' * 64}  other.tar.gz\n{digest}  {name}\n")

    def go(self, body: str) -> None:
        """A Go whose build does `body`, with the wanted output file in $out."""
        script(self.go_path / "go", f'while [ "$1" != -o ]; do shift; done; out=$2\n{body}')

    def cached(self) -> list[str]:
        """Return the content of the cache."""
        return sorted(path.name for path in self.cache.iterdir())


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def network(machine: Machine) -> Iterator[Machine]:
    """A machine with a server of releases."""
    handler = functools.partial(_Silent, directory=str(machine.releases))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        machine.url = f"http://127.0.0.1:{server.server_port}"
        yield machine
        server.shutdown()


class _Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name in the base class
        pass


BUILDS = f'printf "#!/bin/sh\\n{prints(WANTED)}\\n" > "$out"; chmod +x "$out"'


def test_the_cli_on_path_is_used(machine: Machine) -> None:
    binary = script(machine.path / "pulumi", prints(WANTED))

    assert machine.find() == Found(path=binary, version=WANTED, origin=Origin.PATH)


def test_the_minor_version_of_the_sdk_is_preferred(machine: Machine) -> None:
    script(machine.path / "pulumi", prints("3.299.0"))
    cached = script(machine.cache / f"v{WANTED}" / "pulumi", prints(WANTED))

    assert machine.find() == Found(path=cached, version=WANTED, origin=Origin.CACHE)


@pytest.mark.parametrize("version", ["3.205.0", "4.0.0"])
def test_an_unusable_version_is_reported(machine: Machine, version: str) -> None:
    script(machine.path / "pulumi", prints(version))
    found = machine.find()

    assert isinstance(found, NotFound)
    assert f"is {version}, which is not {'.'.join(map(str, MINIMUM))} or a later 3" in str(found)


def test_every_failed_attempt_has_a_reason(machine: Machine) -> None:
    found = machine.find()

    assert isinstance(found, NotFound)
    assert [(failure.origin, failure.reason.split(":")[0]) for failure in found.failures] == [
        (Origin.PATH, "there is no `pulumi`"),
        (Origin.RELEASE, "http"),
        (Origin.BUILD, "a build from the Go module needs `go` on PATH"),
    ]


def test_a_release_is_cached(network: Machine) -> None:
    network.release(WANTED)
    first, second = network.find(), network.find()
    assert isinstance(first, Found)
    assert isinstance(second, Found)

    assert (first.origin, second.origin, first.path) == (Origin.RELEASE, Origin.CACHE, second.path)


def test_a_release_with_another_checksum_is_discarded(network: Machine) -> None:
    network.release(WANTED, checksum="f" * 64)
    found = network.find()

    assert f"but the published one is {'f' * 64}; it is discarded" in str(found)
    assert network.cached() == [f"v{WANTED}.lock"]


def test_a_release_that_prints_another_version_is_refused(network: Machine) -> None:
    network.release("3.1.4")

    assert f"the binary prints version 3.1.4, not {WANTED}" in str(network.find())


def test_a_release_without_a_published_checksum_is_refused(network: Machine) -> None:
    network.release(WANTED)
    (network.releases / "checksums.txt").write_text("nothing here\n")

    assert f"names no pulumi-v{WANTED}" in str(network.find())


def test_without_a_release_the_cli_is_built(machine: Machine) -> None:
    machine.go(BUILDS)
    found = machine.find()

    assert found == Found(path=machine.cache / f"v{WANTED}" / "pulumi", version=WANTED, origin=Origin.BUILD)
    assert "about four minutes" in machine.log.getvalue()


def test_a_failed_build_reports_the_error_of_go(machine: Machine) -> None:
    machine.go('echo "go: module lookup disabled" >&2; exit 1')

    assert "build: `go build` failed: go: module lookup disabled" in str(machine.find())
    assert machine.cached() == [f"v{WANTED}.lock"]


def test_an_unwritable_cache_is_reported(machine: Machine) -> None:
    machine.cache.write_text("a file where a folder should be")

    assert f"cache: {machine.cache} cannot be used" in str(machine.find())


def test_two_processes_build_once(machine: Machine) -> None:
    machine.go(f"echo built >> {machine.folder}/builds; sleep 1; {BUILDS}")
    found: list[Found | NotFound] = []
    threads = [threading.Thread(target=lambda: found.append(machine.find())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ways = sorted(one.origin for one in found if isinstance(one, Found))

    assert ways == [Origin.BUILD, Origin.CACHE]
    assert (machine.folder / "builds").read_text() == "built\n"
    assert "waiting for another process" in machine.log.getvalue()


def test_leftovers_of_a_killed_process_are_removed(machine: Machine) -> None:
    (machine.cache / f".v{WANTED}-dead" / "bin").mkdir(parents=True)
    machine.go(BUILDS)
    machine.find()

    assert machine.cached() == [f"v{WANTED}", f"v{WANTED}.lock"]


def test_an_interrupted_build_ends_its_compilers_and_leaves_nothing(machine: Machine, tmp_path: Path) -> None:
    compiler = tmp_path / "compiler"
    machine.go(f"sleep 60 & echo $! > {compiler}; wait")
    code = f"""
import sys; sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from rich.console import Console
from ops.engine import pulumi_cli, pulumi_cli_get
from ops.progress import Progress
class Steps(Progress):
    def step(self, text):
        print("step", flush=True)
places = pulumi_cli_get.Places(search_path={str(machine.go_path)!r}, cache=Path({str(machine.cache)!r}),
                               archives="http://127.0.0.1:9", checksums="http://127.0.0.1:9/x", module=Path({str(tmp_path)!r}))
pulumi_cli.find(Steps(Console(stderr=True)), places)
"""
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"step\n"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
    pid = int(compiler.read_text())

    assert machine.cached() == [f"v{WANTED}.lock"]
    assert _ends(pid)


def _ends(pid: int) -> bool:
    """Return whether the process ends within ten seconds: a kill is asynchronous."""
    until = time.monotonic() + 10
    while _alive(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return not _alive(pid)


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_the_go_module_requires_the_wanted_version() -> None:
    required = re.findall(
        r"^require github\.com/pulumi/pulumi/pkg/v3 v(\S+)$", (get.MODULE / "go.mod").read_text(), re.MULTILINE
    )

    assert required == [WANTED]


def test_every_required_module_has_a_checksum() -> None:
    modules = set(re.findall(r"^\t(\S+) (v\S+)", (get.MODULE / "go.mod").read_text(), re.MULTILINE))
    sums = (get.MODULE / "go.sum").read_text()
    # The sum of a replaced module is that of its replacement.
    missing = {name for name, version in modules if f"{name} {version}" not in sums} - {"github.com/atotto/clipboard"}

    assert missing == set()
