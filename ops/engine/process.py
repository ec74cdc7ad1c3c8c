"""The Pulumi CLI as a child process that never outlives its parent, with an environment of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Generator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NoReturn

from ops.engine.pulumi_cli import Found

_GRACE: Final = 5.0
"""Seconds for the engine to write its state after an interrupt."""
_SYSTEM_PATH: Final = "/usr/local/bin:/usr/bin:/bin"


class CommandFailedError(Exception):
    """A command failed; the message is its last line with an error."""

    def __init__(self, out: str, err: str) -> None:
        lines = [line.strip() for line in (*out.splitlines(), *err.splitlines()) if line.strip()]
        errors = [line for line in lines if "error:" in line]
        super().__init__((errors or lines or ["it printed nothing"])[-1])


class Cli:
    """One CLI in one folder, with a process group for each command.

    A terminal sends Ctrl-C to a whole process group, and an interrupted engine waits for calls that hang. With its own
    group, only the caller is interrupted, and it ends the group.
    """

    def __init__(self, found: Found, folder: Path, environment: Mapping[str, str]) -> None:
        self._found = found
        self._folder = folder
        self._running: subprocess.Popen[str] | None = None
        self.environment = {
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "PATH": f"{found.path.parent}:{_SYSTEM_PATH}",
            "PULUMI_AUTOMATION_API": "true",
            # Enables the hidden options `--client` and `--event-log`.
            "PULUMI_DEBUG_COMMANDS": "true",
            # A package without a fake provider fails at once, instead of being downloaded.
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_HOME": str(folder / ".pulumi"),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "TMPDIR": str(folder),
            # The engine records the user, and fails for a user id without a name.
            "USER": "gpu-ci",
            **environment,
        }

    def run(self, *args: str, **more: str) -> str:
        """Run one command and return its output; `more` are additional environment variables.

        On an interrupt, the command and its children end before this returns.

        Raises:
            CommandFailedError: the exit code is not 0.

        """
        process = subprocess.Popen(
            [self._found.path, "--non-interactive", *args],
            cwd=self._folder,
            env={**self.environment, **more},
            encoding="utf-8",
            start_new_session=True,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        self._running = process
        try:
            out, err = process.communicate()
        except BaseException:
            _end(process)
            raise
        finally:
            self._running = None
        if process.returncode:
            raise CommandFailedError(out, err)
        return out

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the process group of the command that runs now, if any."""
        process = self._running
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)


@contextlib.contextmanager
def exiting_on_terminate() -> Generator[None]:
    """Clean up on SIGTERM as on Ctrl-C, unless SIGTERM has a handler already or this is not the main thread."""
    mine = threading.current_thread() is threading.main_thread()
    if not mine or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _terminated)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _terminated(number: int, _frame: object) -> NoReturn:
    raise SystemExit(128 + number)


def _end(process: subprocess.Popen[str]) -> None:
    """Interrupt the process group, so that the engine writes its state; then kill it."""
    try:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=_GRACE)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
