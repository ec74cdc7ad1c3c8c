"""One Pulumi command of a pipeline, with time to write the state after a cancellation.

GitHub sends SIGINT to the first process of a step, and kills it after ten seconds. Pulumi needs longer: it finishes the
operations in progress and writes the state. It therefore runs in a session of its own, gets one SIGINT, and the next
step waits for it: `python -m ops.pipeline.deploy finish STACK`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Final

from ops.engine.events import EventLog, Outcome
from ops.outcome import Exit

FINISH_SECONDS: Final = 270
"""GitHub ends a cancelled job five minutes after its cancellation."""
UPDATE: Final = 2
"""The number of the operation of `up` that changes something; the first one is its preview."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A command that has ended."""

    code: int
    output: str
    """Everything that it printed."""
    outcome: Outcome


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run(stack: str, operation: str, *options: str) -> Ended:
    """Run `preview` or `up`, print its output, and return the result with the steps that it took."""
    running, log, events = (_file(stack, end) for end in ("pid", "log", "events"))
    events.unlink(missing_ok=True)
    command = ["pulumi", operation, "--stack", stack, "--non-interactive", "--diff", *options]
    with log.open("wb") as output:
        # A file: the output of a step is closed when the step ends.
        process = subprocess.Popen(
            [*command, "--event-log", str(events)],
            # Enables the hidden option `--event-log`.
            env={**os.environ, "PULUMI_DEBUG_COMMANDS": "true"},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    running.write_text(str(process.pid))

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, signal.SIG_IGN)  # a second SIGINT would end Pulumi without its state
        process.send_signal(signal.SIGINT)
        say("::warning::The run is cancelled. Pulumi finishes the operations in progress; the next step waits.")
        sys.exit(Exit.INTERRUPTED)

    before = {one: signal.signal(one, interrupt) for one in (signal.SIGINT, signal.SIGTERM)}
    started = time.monotonic()
    with log.open("rb") as printed:
        while process.poll() is None:
            _copy(printed.read())
            time.sleep(0.2)
        _copy(printed.read())
    for one, handler in before.items():
        signal.signal(one, handler)
    running.unlink()
    output_text = log.read_text(errors="replace")
    outcome = _outcome(operation, events, time.monotonic() - started, process.returncode)
    return Ended(code=process.returncode, output=output_text, outcome=outcome)


def _outcome(operation: str, events: Path, seconds: float, code: int) -> Outcome:
    log, begun = EventLog(lambda _step: None, planning=operation == "preview"), 0
    if events.is_file():
        # Slow to import, and not needed to wait for a cancelled command.
        from pulumi.automation.events import EngineEvent  # noqa: PLC0415

        for line in events.read_text(errors="replace").splitlines():
            event = EngineEvent.from_json(json.loads(line))
            if event.prelude_event and operation == "up" and (begun := begun + 1) == UPDATE:
                log = EventLog(lambda _step: None, planning=False)
            log.add(event)
    problem = f"pulumi {operation} ended with the code {code}" if code else None
    outcome = log.outcome(operation, seconds, problem=problem)
    return replace(outcome, steps=()) if operation == "up" and begun < UPDATE else outcome


def finish(stack: str, seconds: float = FINISH_SECONDS) -> bool:
    """Wait for the command of a cancelled step, and print its output; return True if nothing runs any more."""
    running, log = _file(stack, "pid"), _file(stack, "log")
    if not running.exists():
        return True
    process, end = int(running.read_text()), time.monotonic() + seconds
    while _lives(process) and time.monotonic() < end:
        time.sleep(0.2)
    _copy(log.read_bytes())
    if _lives(process):
        return False
    running.unlink()
    say("The deployment has ended and written its state.")
    return True


def _file(stack: str, end: str) -> Path:
    """Return a file of the running command: its process id, its output or its events."""
    return Path(os.environ.get("RUNNER_TEMP", tempfile.gettempdir())) / f"deploy-{stack}.{end}"


def _copy(output: bytes) -> None:
    sys.stdout.write(output.decode(errors="replace"))
    sys.stdout.flush()


def _lives(process: int) -> bool:
    """Return True if a process runs; one that has ended may wait for its parent."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
