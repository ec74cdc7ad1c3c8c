"""The Pulumi CLI as a child that never outlives its parent's interest in it, under the Automation API.

Owns the processes and what they see of this machine, which is nothing of the caller's: no credential, no proxy, no
home. What they are asked to do is `ops.engine`.
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from pulumi import automation
from pulumi.automation import errors
from semver import VersionInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from ops.pulumi_cli import Found

_GRACE: Final = 5.0
"""Seconds for the engine to write its state down after it was told to stop."""
_SYSTEM_PATH: Final = "/usr/local/bin:/usr/bin:/bin"


class Cli(automation.PulumiCommand):
    """What the Automation API runs in place of its own: every command in a process group of its own.

    A terminal sends Ctrl-C to a whole group, and the engine, interrupted on its own account, would stay for what
    hangs. Here the caller alone is interrupted, and ends the group.
    """

    def __init__(self, found: Found, home: Path) -> None:
        # Not the base's, which runs the CLI once more to ask for the version that is known here.
        self.command = str(found.path)
        self.version = VersionInfo.parse(found.version)
        self._surroundings = {
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "PATH": f"{found.path.parent}:{_SYSTEM_PATH}",
            "PULUMI_AUTOMATION_API": "true",
            # A package without a stand-in is refused at once, instead of being looked for in the network.
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_HOME": str(home / ".pulumi"),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "TMPDIR": str(home),
        }

    def run(
        self,
        args: list[str],
        cwd: str,
        additional_env: Mapping[str, str],
        on_output: Callable[[str], Any] | None = None,
        on_error: Callable[[str], Any] | None = None,
    ) -> automation.CommandResult:
        """Run one command to its end; on whatever interrupts it, end it and everything it started."""
        process = subprocess.Popen(
            [self.command, "--non-interactive", *args],
            cwd=cwd,
            env={**self._surroundings, **additional_env},
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
        for text, hear in ((out, on_output), (err, on_error)):
            if hear is not None:
                for line in text.splitlines():
                    hear(line)
        result = automation.CommandResult(stdout=out, stderr=err, code=process.returncode)
        if result.code:
            raise errors.create_command_error(result)
        return result


class Workspace(automation.LocalWorkspace):
    """The Automation API's own, without the questions that nobody here asks."""

    def stack_outputs(self, stack_name: str) -> automation.OutputMap:  # noqa: ARG002  # the base names it
        """Nothing: two processes after every update, for what the state tells at once."""
        return {}


class Stack(automation.Stack):
    """The Automation API's own, without the questions that nobody here asks."""

    def info(self, show_secrets: bool = True) -> automation.UpdateSummary | None:  # noqa: ARG002  # the base names it
        """No look into the history: a process after every operation, for what its events have told."""
        return _NOT_ASKED


_NOT_ASKED: Final = automation.UpdateSummary(
    kind="update",
    start_time=datetime.fromtimestamp(0, tz=UTC),
    message="",
    environment={},
    config={},
    result="not-asked",
)


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
        process.wait()
