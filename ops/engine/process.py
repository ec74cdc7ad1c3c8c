"""The Pulumi CLI as a child that never outlives its parent's interest in it.

Owns the processes and what they see of this machine, which is nothing of the caller's: no credential, no proxy, no
home. What they are asked to do is `ops.engine.engine`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path

    from ops.engine.pulumi_cli import Found

_GRACE: Final = 5.0
"""Seconds for the engine to write its state down after it was told to stop."""
_SYSTEM_PATH: Final = "/usr/local/bin:/usr/bin:/bin"


class CommandFailedError(Exception):
    """A command ended with another code than 0; the message is what it said last."""

    def __init__(self, out: str, err: str) -> None:
        lines = [line.strip() for line in (*out.splitlines(), *err.splitlines()) if line.strip()]
        wrong = [line for line in lines if "error:" in line]
        super().__init__((wrong or lines or ["it said nothing"])[-1])


class Cli:
    """One CLI in one folder, every command in a process group of its own.

    A terminal sends Ctrl-C to a whole group, and the engine, interrupted on its own account, would wait for what
    hangs. Here the caller alone is interrupted, and ends the group.
    """

    def __init__(self, found: Found, folder: Path, surroundings: Mapping[str, str]) -> None:
        self._found = found
        self._folder = folder
        self._surroundings = {
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "PATH": f"{found.path.parent}:{_SYSTEM_PATH}",
            "PULUMI_AUTOMATION_API": "true",
            # The options by which a program and an event stream are given stand behind this.
            "PULUMI_DEBUG_COMMANDS": "true",
            # A package without a stand-in is refused at once, instead of being looked for in the network.
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_HOME": str(folder / ".pulumi"),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "TMPDIR": str(folder),
            # The engine notes who works on a stack, and a number without a name stops it.
            "USER": "gpu-ci",
            **surroundings,
        }

    def run(self, *args: str, **more: str) -> str:
        """Run one command to its end and return what it printed; `more` are variables for it alone.

        On whatever interrupts it, it and everything that it started end first.

        Raises:
            CommandFailedError: it did not end well.

        """
        process = subprocess.Popen(
            [self._found.path, "--non-interactive", *args],
            cwd=self._folder,
            env={**self._surroundings, **more},
            encoding="utf-8",
            start_new_session=True,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        try:
            out, err = process.communicate()
        except BaseException:
            _end(process)
            raise
        if process.returncode:
            raise CommandFailedError(out, err)
        return out


@contextlib.contextmanager
def ending_on_terminate() -> Generator[None]:
    """Let a `kill` end what is under way as Ctrl-C does, instead of leaving it to itself.

    Where somebody else has a say in it already, or outside the main thread, nothing changes.
    """
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
    """First as Ctrl-C would, so that what is under way is written down; then without asking."""
    try:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=_GRACE)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
