"""The command: `python3 -m ami.builder build|destroy`, with the variables of `inputs`.

Exit codes: 0 success; 1 the installer or the verifier failed; 2 a variable is invalid, or gcloud is missing or has no
access; 3 something outside failed; 128 plus the number of a signal. Standard output contains only the result, as JSON.
Messages go to standard error.
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - the `python3` on PATH may differ from the program's
    sys.exit(f"this needs Python 3.11 or newer, and {sys.executable} is {sys.version.split()[0]}")

import json
import os
import shutil
import signal
from typing import TYPE_CHECKING

from ami.builder.gcloud import SIGNALS, Outside, say
from ami.builder.inputs import NotStarted, inputs
from ami.builder.machine import Failed
from ami.builder.steps import build, destroy

if TYPE_CHECKING:
    from types import FrameType


def main(arguments: list[str]) -> int:
    """Build or destroy as the arguments and the environment state; return the exit code."""
    if arguments not in (["build"], ["destroy"]):
        say("state one argument: build or destroy")
        return 2
    if shutil.which("gcloud") is None:
        say("gcloud is not on PATH: install the Google Cloud CLI, or use a machine that has it; nothing was started")
        return 2
    for number in SIGNALS:
        signal.signal(number, _stop)
    code = 0
    try:
        if arguments == ["build"]:
            print(json.dumps(build(inputs(os.environ))))  # noqa: T201 - the result
        else:
            destroy(inputs(os.environ, ending=True))
    except NotStarted as error:
        say(f"nothing was started:\n{error}")
        code = 2
    except Failed as error:
        say(str(error))
        code = 1
    except Outside as error:
        say(str(error))
        code = 3
    return code


def _stop(number: int, _frame: FrameType | None) -> None:
    """Unwind once. A second signal must not interrupt the cleanup that the first one started."""
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    say(f"signal {number}: deleting the machines")
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
