"""A machine in a container of systemd-nspawn, with the user data of a runner and servers that speak the APIs."""

from __future__ import annotations

import ctypes
import hashlib
import io
import os
import re
import signal
import subprocess
import tarfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from gpu_ci.back_ends.shared.machine.user_data import BootArgs, user_data
from ops import cache
from tests.machine.servers import Clouds, Servers, private_key

ROOT: Final = cache.folder() / "machine"
"""The folder that `make artefact-tools` creates."""
HERE: Final = Path(__file__).parent
_NEW_NETWORK: Final = 0x40000000
"""CLONE_NEWNET of unshare(2)."""
_REBOOT: Final = 133
"""The exit code of systemd-nspawn after a reboot."""
_CONFIG: Final = """#!/bin/bash
printf '\\xef\\xbb\\xbf{"agentId": 4711}' >.runner
printf '%s' "$*" >configured
"""


def runner_archive() -> bytes:
    """Return an archive of a runner, whose `config.sh` writes what GitHub's does."""
    files = {name: (HERE / name).read_bytes() for name in ("run.sh", "listener.py")} | {"config.sh": _CONFIG.encode()}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text), 0o755
            archive.addfile(entry, io.BytesIO(text))
    return packed.getvalue()


class Machine:
    """One machine, which can start several times."""

    def __init__(self, folder: Path, args: BootArgs, *fakes: str, edits: Sequence[tuple[str, str]] = ()) -> None:
        """Prepare a machine; `fakes` are files for its fake commands, `edits` patterns in its user data."""
        archive = runner_archive()
        self.folder, self.console = folder, folder / "console"
        self.clouds = Clouds(archive=archive, key=private_key())
        self._process: subprocess.Popen[bytes] | None = None
        text = user_data(replace(args, runner_sha256=hashlib.sha256(archive).hexdigest()))
        for pattern, new in edits:
            text, count = re.subn(pattern, new, text)
            assert count == 1, pattern
        for name in ("root", "changes", "work"):
            (folder / name).mkdir(parents=True)
        self._mount("-t", "overlay", "overlay", "-o")
        seed = folder / "root/var/lib/cloud/seed/nocloud"
        seed.mkdir(parents=True)
        (seed / "user-data").write_text(text, encoding="utf-8")
        (seed / "meta-data").write_text("instance-id: one\nlocal-hostname: machine\n", encoding="utf-8")
        (folder / "root/var/lib/fake").mkdir()
        for name in fakes:
            (folder / "root/var/lib/fake" / name).touch()
        thread = threading.Thread(target=self._serve)
        thread.start()
        thread.join()

    def _mount(self, *words: str) -> None:
        places = f"lowerdir={ROOT}/root,upperdir={self.folder}/changes,workdir={self.folder}/work"
        subprocess.run(["mount", *words, places, self.folder / "root"], check=True)

    def _serve(self) -> None:
        """Start the servers in a network of their own: a network namespace belongs to a thread."""
        if ctypes.CDLL(None, use_errno=True).unshare(_NEW_NETWORK):
            raise OSError(ctypes.get_errno(), "unshare")
        for words in ("link set lo up", "address add 169.254.169.254/32 dev lo"):
            subprocess.run(["ip", *words.split()], check=True)
        self._network = os.open(f"/proc/self/task/{threading.get_native_id()}/ns/net", os.O_RDONLY)
        self._servers = Servers(self.clouds, ROOT / "server.pem", ("169.254.169.254", 80), ("127.0.0.1", 443))

    def start(self) -> Machine:
        """Start the machine. A start has no rules of the last one."""
        network = f"/proc/{os.getpid()}/fd/{self._network}"
        for tables in ("iptables", "ip6tables"):
            flush = ["nsenter", f"--net={network}", "chroot", f"{self.folder}/root", tables, "-t", "mangle", "-F"]
            subprocess.run(flush, check=True, capture_output=True)
        words = ["--quiet", "--register=no", "--keep-unit", "--boot", "--console=read-only", "--private-users=no"]
        words += [
            # Names of containers that run at the same time differ.
            f"--machine=test-{os.getpid()}-{id(self)}",
            f"--network-namespace-path={network}",
            "--capability=CAP_NET_ADMIN",
            f"--directory={self.folder}/root",
        ]
        with self.console.open("ab") as console:
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "systemd-nspawn", *words],
                env={"PATH": os.environ["PATH"], "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"},
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
            )
        return self

    def wait(self, until: Callable[[], object], seconds: float = 120) -> None:
        """Wait until something has happened, and fail with the journal if it does not."""
        deadline = time.monotonic() + seconds
        while not until():
            if self._process is not None and self._process.poll() == _REBOOT:
                self.start()
            if time.monotonic() > deadline:
                log = self.sh("journalctl --boot --no-pager --output cat --lines 40 --unit 'gpu-ci*'")
                raise AssertionError(f"{self.clouds.status}\n{log}")
            time.sleep(0.1)

    def online(self) -> Machine:
        """Start the machine, and wait for its runner."""
        before = self.clouds.status.count("online")
        self.start().wait(lambda: self.clouds.status.count("online") > before)
        return self

    def job(self, script: str, **event: object) -> None:
        """Queue a job."""
        self.clouds.jobs.append({"script": script, "event": event})

    def result(self, script: str, **event: object) -> tuple[str, str]:
        """Run a job, wait for the next registration, and return the job's result and output."""
        count, registered = len(self.clouds.results), len(self.clouds.lines("generate-jitconfig"))
        self.job(script, **event)
        self.wait(lambda: len(self.clouds.results) > count)
        self.wait(lambda: len(self.clouds.lines("generate-jitconfig")) > registered)
        return self.clouds.results[-1]

    def sh(self, script: str) -> str:
        """Run a script as root in the machine, and return its output."""
        spawned = [] if self._process is None else _children(self._process.pid)
        if not spawned:
            return "(off)"
        words = ["nsenter", f"--target={spawned[0]}", *("-m", "-u", "-i", "-n", "-p", "-r", "-w"), "env", "-i"]
        words += ["HOME=/root", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "bash", "-c", script]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)
        return (done.stdout + done.stderr).strip()

    def calls(self, words: str) -> list[str]:
        """Return the calls of fake commands that begin with those words."""
        lines = (self.folder / "root/var/lib/fake/calls").read_text(encoding="utf-8").splitlines()
        return [line for line in lines if line.startswith(words)]

    def ended(self, seconds: float = 60) -> int:
        """Wait until the machine is off, and return the exit code of its container."""
        assert self._process is not None
        return self._process.wait(seconds)

    def crash(self) -> None:
        """End the machine without a shutdown."""
        assert self._process is not None
        os.kill(_children(self._process.pid)[0], signal.SIGKILL)
        self._process.wait(20)

    def close(self) -> None:
        """End the machine and delete what it has written."""
        if self._process is not None and self._process.poll() is None:
            self.crash()
        self._servers.close()
        os.close(self._network)
        subprocess.run(["umount", "--lazy", self.folder / "root"], check=True)


def _children(process: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
