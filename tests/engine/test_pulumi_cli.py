"""How a Pulumi CLI is found, and what is said where none is; with stubs in the place of network, Go and CLI."""

from __future__ import annotations

import functools
import hashlib
import http.server
import io
import os
import re
import signal
import subprocess
import sys
import tarfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ops.engine import pulumi_cli
from ops.engine import pulumi_cli_get as get
from ops.engine.pulumi_cli import MINIMUM, WANTED, Found, NotFound, Way, Where

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.pure

ROOT = Path(__file__).resolve().parents[2]


def script(path: Path, body: str) -> Path:
    """An executable of our own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def says(version: str) -> str:
    return f"echo v{version}"


class Machine:
    """A machine with nothing on it: no CLI, no network, no Go; until a test adds some of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.path = folder / "path"
        self.go_path = folder / "go"
        self.releases = folder / "releases"
        self.url = "http://127.0.0.1:9"
        self.told: list[str] = []

    @property
    def where(self) -> Where:
        system = "/usr/bin:/bin"
        return Where(
            search_path=str(self.path),
            cache=self.cache,
            sources=get.Sources(
                version=WANTED,
                archives=self.url,
                checksums=f"{self.url}/checksums.txt",
                module=self.folder,
                search_path=f"{self.go_path}:{system}" if self.go_path.exists() else str(self.go_path),
            ),
        )

    def find(self) -> Found | NotFound:
        return pulumi_cli.find(self.told.append, self.where)

    def release(self, version: str, *, told: str | None = None) -> None:
        """Publish a release, under its own checksum or under another one."""
        self.releases.mkdir(exist_ok=True)
        name = f"pulumi-v{WANTED}-{get._platform()}.tar.gz"
        body = io.BytesIO()
        with tarfile.open(fileobj=body, mode="w:gz") as tar:
            member = tarfile.TarInfo("pulumi/pulumi")
            text = f"#!/bin/sh\n{says(version)}\n".encode()
            member.size, member.mode = len(text), 0o755
            tar.addfile(member, io.BytesIO(text))
        (self.releases / name).write_bytes(body.getvalue())
        digest = told or hashlib.sha256(body.getvalue()).hexdigest()
        (self.releases / "checksums.txt").write_text(f"{'0' * 64}  other.tar.gz\n{digest}  {name}\n")

    def go(self, body: str) -> None:
        """A Go whose build does `body`, with the wanted output file in $out."""
        script(self.go_path / "go", f'while [ "$1" != -o ]; do shift; done; out=$2\n{body}')

    def left(self) -> list[str]:
        """What lies in the cache."""
        return sorted(path.name for path in self.cache.iterdir())


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def network(machine: Machine) -> Iterator[Machine]:
    """A machine that reaches a server of releases."""
    handler = functools.partial(_Silent, directory=str(machine.releases))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        machine.url = f"http://127.0.0.1:{server.server_port}"
        yield machine
        server.shutdown()


class _Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base names it
        pass


BUILDS = f'printf "#!/bin/sh\\n{says(WANTED)}\\n" > "$out"; chmod +x "$out"'


def test_the_one_on_path_is_taken(machine: Machine) -> None:
    binary = script(machine.path / "pulumi", says(WANTED))

    assert machine.find() == Found(path=binary, version=WANTED, way=Way.PATH)


def test_the_sdks_own_minor_version_is_preferred_to_another_on_path(machine: Machine) -> None:
    script(machine.path / "pulumi", says("3.299.0"))
    cached = script(machine.cache / f"v{WANTED}" / "pulumi", says(WANTED))

    assert machine.find() == Found(path=cached, version=WANTED, way=Way.CACHE)


def test_another_version_on_path_is_better_than_minutes_of_building(machine: Machine) -> None:
    script(machine.path / "pulumi", says("3.299.0"))
    machine.go(BUILDS)

    assert pulumi_cli.at_hand(machine.where) == machine.find()


@pytest.mark.parametrize("version", ["3.205.0", "4.0.0"])
def test_a_version_that_will_not_do_is_named(machine: Machine, version: str) -> None:
    script(machine.path / "pulumi", says(version))
    found = machine.find()

    assert isinstance(found, NotFound)
    assert f"is {version}, which is not {'.'.join(map(str, MINIMUM))} or a later 3" in str(found)


def test_without_anything_every_way_says_why_it_failed(machine: Machine) -> None:
    found = machine.find()

    assert isinstance(found, NotFound)
    assert [(failure.way, failure.reason.split(":")[0]) for failure in found.failures] == [
        (Way.PATH, "no `pulumi` is there"),
        (Way.RELEASE, "http"),
        (Way.BUILD, "it would be built from its Go module, but no `go` is on PATH"),
    ]


def test_no_network_is_known_quickly(machine: Machine) -> None:
    started = time.monotonic()
    machine.find()

    assert time.monotonic() - started < 5


def test_a_release_is_kept_in_the_cache(network: Machine) -> None:
    network.release(WANTED)
    first, second = network.find(), network.find()
    assert isinstance(first, Found)
    assert isinstance(second, Found)

    assert (first.way, second.way, first.path) == (Way.RELEASE, Way.CACHE, second.path)


def test_a_release_with_another_checksum_is_thrown_away(network: Machine) -> None:
    network.release(WANTED, told="f" * 64)
    found = network.find()

    assert f"but {'f' * 64} was published; it was thrown away" in str(found)
    assert network.left() == [f"v{WANTED}.lock"]


def test_a_release_of_another_version_than_it_says_is_refused(network: Machine) -> None:
    network.release("3.1.4")

    assert f"what was got says its version is 3.1.4, not {WANTED}" in str(network.find())


def test_a_release_that_nobody_published_a_sum_of_is_refused(network: Machine) -> None:
    network.release(WANTED)
    (network.releases / "checksums.txt").write_text("nothing here\n")

    assert f"names no pulumi-v{WANTED}" in str(network.find())


def test_what_cannot_be_downloaded_is_built(machine: Machine) -> None:
    machine.go(BUILDS)
    found = machine.find()

    assert found == Found(path=machine.cache / f"v{WANTED}" / "pulumi", version=WANTED, way=Way.BUILD)
    assert any("about four minutes" in line for line in machine.told)


def test_a_build_that_fails_says_so_in_gos_words(machine: Machine) -> None:
    machine.go('echo "go: module lookup disabled" >&2; exit 1')

    assert "build: `go build` failed: go: module lookup disabled" in str(machine.find())
    assert machine.left() == [f"v{WANTED}.lock"]


def test_a_broken_binary_in_the_cache_is_got_anew(machine: Machine) -> None:
    script(machine.cache / f"v{WANTED}" / "pulumi", "exit 1")
    machine.go(BUILDS)
    found = machine.find()
    assert isinstance(found, Found)

    assert found.way is Way.BUILD


def test_a_cache_that_cannot_be_written_is_a_reason_too(machine: Machine) -> None:
    machine.cache.write_text("a file where a folder should be")

    assert f"cache: {machine.cache} cannot be used" in str(machine.find())


def test_two_at_once_build_it_once(machine: Machine) -> None:
    machine.go(f"echo built >> {machine.folder}/builds; sleep 1; {BUILDS}")
    found: list[Found | NotFound] = []
    threads = [threading.Thread(target=lambda: found.append(machine.find())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ways = sorted(one.way for one in found if isinstance(one, Found))

    assert ways == [Way.BUILD, Way.CACHE]
    assert (machine.folder / "builds").read_text() == "built\n"
    assert any("waiting for another process" in line for line in machine.told)


def test_what_a_killed_process_left_is_cleared_away(machine: Machine) -> None:
    (machine.cache / f".v{WANTED}-dead" / "bin").mkdir(parents=True)
    machine.go(BUILDS)
    machine.find()

    assert machine.left() == [f"v{WANTED}", f"v{WANTED}.lock"]


def test_an_interrupted_build_leaves_nothing_and_ends_its_compilers(machine: Machine, tmp_path: Path) -> None:
    compiler = tmp_path / "compiler"
    machine.go(f"sleep 60 & echo $! > {compiler}; wait")
    code = f"""
import sys; sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from ops.engine import pulumi_cli
from ops.engine import pulumi_cli_get as get
sources = get.Sources(version=pulumi_cli.WANTED, archives="http://127.0.0.1:9", checksums="http://127.0.0.1:9/x",
                      module=Path({str(tmp_path)!r}), search_path={f"{machine.go_path}:/usr/bin:/bin"!r})
pulumi_cli.find(print, pulumi_cli.Where(search_path="", cache=Path({str(machine.cache)!r}), sources=sources))
"""
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        while not (compiler.exists() and compiler.read_text().strip()):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    pid = int(compiler.read_text())

    assert machine.left() == [f"v{WANTED}.lock"]
    assert _ends(pid)


def _ends(pid: int) -> bool:
    """Whether the process is gone soon: a kill is only asked for, and a busy machine takes its time."""
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


def test_the_module_that_is_built_is_of_the_wanted_version() -> None:
    required = re.findall(
        r"^require github\.com/pulumi/pulumi/pkg/v3 v(\S+)$", (get._MODULE / "go.mod").read_text(), re.MULTILINE
    )

    assert required == [WANTED]


def test_every_module_that_is_built_has_a_sum() -> None:
    modules = set(re.findall(r"^\t(\S+) (v\S+)", (get._MODULE / "go.mod").read_text(), re.MULTILINE))
    sums = (get._MODULE / "go.sum").read_text()
    # A replaced module's own sum is its replacement's.
    lacking = {name for name, version in modules if f"{name} {version}" not in sums} - {"github.com/atotto/clipboard"}

    assert lacking == set()


def test_the_usual_places_follow_the_xdg_rules(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    assert Where.usual().cache == tmp_path / "gpu-ci" / "pulumi"
    assert Where.usual().search_path == os.environ["PATH"]
