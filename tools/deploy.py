"""Deploy a stack from a pipeline: never backwards, and with time to write the state after a cancellation.

GitHub sends SIGINT to the first process of a step, and kills it after ten seconds. Pulumi needs longer: it finishes the
operations in progress and writes the state. It therefore runs in a session of its own, gets one SIGINT, and the next
step waits for it: `python -m tools.deploy STACK --finish`.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

OPTIONS: Final = ("--yes", "--non-interactive", "--diff", "--policy-pack", "policy")
CHANGING: Final = frozenset({"update", "destroy"})
"""Kinds of updates after which the stack has the content of their commit."""
FINISH_SECONDS: Final = 270
"""GitHub ends a cancelled job five minutes after its cancellation."""
INTERRUPTED: Final = 130


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def newer(stack: str) -> str | None:
    """Return the deployed commit if it is newer than the checkout: the checkout is one of its ancestors."""
    deployed = _deployed(stack)
    head = _git("rev-parse", "HEAD").stdout.strip()
    if deployed in {None, head}:
        return None
    return deployed if _git("merge-base", "--is-ancestor", head, str(deployed)).returncode == 0 else None


def _deployed(stack: str) -> str | None:
    """Return the commit of the last update, also of a failed one, which has changed resources, too."""
    asked = subprocess.run(
        ["pulumi", "stack", "history", "--stack", stack, "--json"], capture_output=True, check=True, text=True
    )
    updates: list[dict[str, Any]] = json.loads(asked.stdout or "[]")
    commits = [update["environment"].get("git.head") for update in updates if update["kind"] in CHANGING]
    return next((commit for commit in commits if commit), None)


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], capture_output=True, check=False, text=True)


def _files(stack: str) -> tuple[Path, Path]:
    """Return the files with the process id and the output of a running deployment."""
    folder = Path(os.environ.get("RUNNER_TEMP", tempfile.gettempdir()))
    return folder / f"deploy-{stack}.pid", folder / f"deploy-{stack}.log"


def deploy(stack: str) -> int:
    """Deploy the stack, and print the output; return the exit code."""
    ahead = newer(stack)
    if ahead is not None:
        say(f"::notice::{stack} has the newer commit {ahead}; this commit is not deployed.")
        return 0
    running, log = _files(stack)
    with log.open("wb") as output:
        # A file: the output of a step is closed when the step ends.
        update = subprocess.Popen(
            ["pulumi", "up", "--stack", stack, *OPTIONS],
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    running.write_text(str(update.pid))

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, signal.SIG_IGN)  # a second SIGINT would end Pulumi without its state
        update.send_signal(signal.SIGINT)
        say("::warning::The deployment is cancelled. Pulumi finishes the operations in progress; the next step waits.")
        sys.exit(INTERRUPTED)

    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, interrupt)
    with log.open("rb") as printed:
        while update.poll() is None:
            _copy(printed.read())
            time.sleep(0.2)
        _copy(printed.read())
    running.unlink()
    return update.returncode


def _copy(output: bytes) -> None:
    sys.stdout.write(output.decode(errors="replace"))
    sys.stdout.flush()


def finish(stack: str, seconds: float = FINISH_SECONDS) -> int:
    """Wait for a cancelled deployment, and print its output; return 0 if nothing runs any more."""
    running, log = _files(stack)
    if not running.exists():
        return 0
    process, end = int(running.read_text()), time.monotonic() + seconds
    while _lives(process) and time.monotonic() < end:
        time.sleep(0.2)
    _copy(log.read_bytes())
    if _lives(process):
        say(
            f"::error::Pulumi still runs, and the runner will end it. Run pulumi cancel --stack {stack}, and then"
            f" pulumi refresh --stack {stack}."
        )
        return 1
    running.unlink()
    say("The deployment has ended and written its state.")
    return 0


def _lives(process: int) -> bool:
    """Return True if a process runs; one that has ended may wait for its parent."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def main(arguments: Sequence[str] | None = None) -> int:
    """Deploy, or wait for a cancelled deployment; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stack")
    parser.add_argument("--finish", action="store_true", help="wait for a cancelled deployment")
    stated = parser.parse_args(arguments)
    return finish(stated.stack) if stated.finish else deploy(stated.stack)


if __name__ == "__main__":
    sys.exit(main())
