"""Prove a stack that a pipeline has just deployed: `make doctor`, and `make smoke` if the stack file has `smoke-test`.

The exit code is 1 if a link is broken or a GPU does not work, and 3 if the doctor could not run or the cluster did not
answer. A link that the doctor cannot ask about, because the job has no credentials for it, is a warning.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

from gpu_ci.stack_file.identity import PROJECT
from ops.cli.options import ROOT
from ops.outcome import Exit
from ops.pipeline.pulumi_run import say
from ops.plan.stack_file import find, read

BROKEN: Final = "read its output above, and the section of docs/runbook.md that it names"


def verify(stack: str) -> int:
    """Run both commands; return the exit code."""
    stack_file = read(find(stack, ROOT))
    doctor, smoke = _run("doctor", stack), Exit.GOOD
    if f"{PROJECT}:smoke-test" in stack_file.config:
        smoke = _run("smoke", stack)
    else:
        say(f"::notice::{stack_file.path.name} has no smoke-test, so no GPU was tested (docs/how-to/smoke.md).")
    if doctor == Exit.OUTSIDE:
        say(f"::warning::The doctor could not ask every system about {stack}; the links that it asked about work.")
    elif doctor:
        say(f"::error::{stack} is deployed, but make doctor ended with the code {doctor}: {BROKEN}.")
    if smoke:
        say(f"::error::{stack} is deployed, but make smoke ended with the code {smoke}: {BROKEN}.")
    found = {doctor, smoke} - {Exit.GOOD}
    if Exit.FINDING in found:
        return Exit.FINDING
    return Exit.GOOD if found <= {Exit.OUTSIDE} and not smoke else max(found)


def _run(command: str, stack: str) -> Exit:
    """Run a command of `ops`; return its exit code. `make` would replace the code by its own."""
    say(f"make {command} STACK={stack}")
    ended = subprocess.run(
        [sys.executable, "-m", "ops", command, "--stack", stack], check=False, cwd=ROOT, stdin=subprocess.DEVNULL
    )
    return Exit(ended.returncode) if ended.returncode in set(Exit) else Exit.OUTSIDE


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove a stack; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stack")
    return verify(parser.parse_args(arguments).stack)


if __name__ == "__main__":
    sys.exit(main())
