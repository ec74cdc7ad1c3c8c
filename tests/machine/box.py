"""A machine below a folder: fake commands of its operating system, and the servers that it calls."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from gpu_ci.back_ends.shared.machine.user_data import BootArgs, program, settings
from tests.artefacts.fake_commands import FakeCommands, Run
from tests.machine.servers import Clouds, Servers, private_key

REAL: Final = (
    *("base64", "curl", "date", "flock", "gzip", "openssl", "python3", "sha256sum", "tar", "xargs"),
    *("cut", "cat", "head", "sort", "tr", "sed", "tail", "mkdir", "rm", "grep", "touch"),
)
"""Commands that run for real, with a log of their arguments."""

PROGRESS: Final = ("create", "block", "install", "let", "download", "verify", "register the")
"""The first words of the steps of a start."""
LISTENING: Final = "Listening for Jobs\n"


def runner_archive() -> bytes:
    """Return an archive of a runner, whose `config.sh` writes what GitHub's does."""
    config = '#!/bin/bash\nprintf "\\xef\\xbb\\xbf{\\"agentId\\": 4711}" >.runner\necho "$*" >configured\n'
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in (("run.sh", "#!/bin/bash\n"), ("config.sh", config)):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text), 0o755
            archive.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


class Box:
    """One machine."""

    def __init__(self, folder: Path, args: BootArgs, certificate: Path) -> None:
        archive = runner_archive()
        self.args = replace(args, runner_sha256=hashlib.sha256(archive).hexdigest())
        self.root = folder / "root"
        self.clouds = Clouds(archive=archive, key=private_key())
        self.servers = Servers(self.clouds, certificate, folder)
        self.folder = folder
        self.stubs = FakeCommands(folder)
        for path in (
            "dev",
            "etc/apt/keyrings",
            "etc/apt/sources.list.d",
            "etc/docker",
            "proc",
            "run",
            "tmp",
            "var/lib",
        ):
            (self.root / path).mkdir(parents=True)
        (self.root / "dev/nvidia-uvm").touch()
        (self.root / "etc/gpu-ci.conf").write_text(settings(self.args), encoding="utf-8")
        self.program = folder / "gpu-ci"
        self.program.write_text(program(self.args).replace("\nROOT=\n", f"\nROOT={self.root}\n"), encoding="utf-8")
        self.up(100)
        self._commands()

    def _commands(self) -> None:
        for name in REAL:
            real = sys.executable if name == "python3" else shutil.which(name)
            assert real, name
            self.stubs.add(name, f'exec {real} "$@"')
        for name in (
            *("apt-get", "apt-mark", "docker", "find", "gpasswd", "groupadd", "iptables", "ip6tables", "modinfo"),
            *("modprobe", "nvidia-ctk", "nvidia-modprobe", "useradd", "usermod"),
        ):
            self.stubs.add(name)
        self.stubs.add(
            "install", 'shift; [ "$1" = -o ] && shift 4; while [ "$1" != "${1#-}" ]; do shift 2; done; mkdir -p "$@"'
        )
        self.stubs.add("sleep", "exec /bin/sleep 0.02")
        self.stubs.add("getent", "exit 2")
        self.stubs.add("sudo", "exit 1")
        self.stubs.add("pgrep", "exit 1")
        self.stubs.add("pkill", "exit 1")
        self.stubs.add("df", "echo Avail; echo 80G")
        self.stubs.add("id", "echo runner video render")
        self.stubs.add("gpg", "echo pub:; echo fpr:::::::::C95B321B61E88C1809C4F759DDCAE044F796ECB0:")
        self.stubs.add("iptables", 'case "$*" in *" -C "*) exit 1;; esac')
        self.stubs.add("ip6tables", 'case "$*" in *" -C "*) exit 1;; esac')
        self.stubs.add("nvidia-smi", 'case "$*" in *uuid*) echo GPU-1;; *utilization*) echo 37;; esac')
        self.stubs.add("runuser", 'shift 3; case "$*" in *169.254*) exit 28;; esac; exec "$@"')
        self.job(LISTENING)

    def job(self, log: str, *, polls: int = 3) -> None:
        """Let each job end after some polls, with that log."""
        (self.folder / "job.log").write_text(log, encoding="utf-8")
        self.stubs.add("journalctl", f'/bin/cat "{self.folder}/job.log"')
        left, env = self.folder / "polls", self.root / "run/gpu-ci/job.env"
        self.stubs.add(
            "systemctl",
            f"""case "$*" in
            "start gpu-ci-job.service") echo {polls} >"{left}"
              if [ -e "{env}" ]; then /usr/bin/stat -c %a "{env}" >>"{self.folder}/modes"; /bin/cat "{env}" >>"{self.folder}/jits"; fi;;
            "stop gpu-ci-job.service") echo 0 >"{left}";;
            "is-active --quiet gpu-ci-job.service") n=$(<"{left}"); echo $((n - 1)) >"{left}"; [ "$n" -gt 0 ];;
            "is-active gpu-ci-setup.service") echo active;;
            esac""",
        )

    def up(self, seconds: int) -> None:
        """Set the seconds since the start of the machine."""
        (self.root / "proc/uptime").write_text(f"{seconds}.25 1.0\n", encoding="utf-8")

    @property
    def _environment(self) -> dict[str, str]:
        return {"CURL_HOME": str(self.folder), "LC_ALL": "C.UTF-8"}

    def call(self, *words: str) -> Run:
        """Run the program to its end."""
        run = self.stubs.run(["/bin/bash", str(self.program), *words], self._environment)
        with (self.folder / "output").open("a", encoding="utf-8") as output:
            output.write(run.out + run.err)
        return run

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start the program."""
        with (self.folder / "output").open("a", encoding="utf-8") as output:
            return subprocess.Popen(
                ["/bin/bash", str(self.program), *words],
                env={"PATH": str(self.stubs.path), **self._environment},
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
            )

    def serve(self, until: Callable[[], bool]) -> int:
        """Run the registration until something has happened, stop it as systemd does, and return the exit code."""
        process = self.start("run")
        deadline = time.monotonic() + 120
        while not until() and process.poll() is None:
            assert time.monotonic() < deadline, self.output()
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        return process.wait(timeout=120)

    def installed(self) -> Box:
        """Run the first boot."""
        run = self.call("setup")
        assert run.code == 0, run.err
        return self

    def prepared(self) -> Box:
        """Bring the machine into its state after the first boot, in less time."""
        archive = self.root / f"var/lib/gpu-ci/runner-{self.args.runner_version}.tar.gz"
        archive.parent.mkdir()
        archive.write_bytes(self.clouds.archive)
        return self

    def output(self) -> str:
        """Return what the program has written."""
        return (self.folder / "output").read_text(encoding="utf-8")

    @property
    def states(self) -> list[str]:
        """Return the published states without the progress of a start."""
        progress = [f"waiting: {step}" for step in PROGRESS]
        return [status for status in self.clouds.status if not status.startswith(tuple(progress))]

    def called(self, words: str) -> list[str]:
        """Return the calls that contain those words."""
        return [call for call in self.stubs.calls() if words in call]

    def jobs(self) -> int:
        """Return the number of started jobs."""
        return len(self.called("systemctl start gpu-ci-job.service"))

    def leaks(self, secrets: tuple[str, ...]) -> list[str]:
        """Return each place that contains a secret: arguments, output, and files outside the tmpfs."""
        places = {"arguments": "\n".join(self.stubs.calls()), "output": self.output()}
        for path in self.root.rglob("*"):
            if path.is_file() and "run/gpu-ci" not in str(path) and os.access(path, os.R_OK):
                places[str(path.relative_to(self.root))] = path.read_text(encoding="latin-1")
        return [f"{place}: {secret}" for place, text in places.items() for secret in secrets if secret in text]
