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

from ami.builder.controller import controller
from ami.builder.gcloud import CallFailed, NoAccess
from ami.builder.inputs import InputsWrong, inputs
from ami.builder.job import Failed, Hindered, Overdue, Preempted, say
from ami.builder.machine import SIGNALS

if TYPE_CHECKING:
    from types import FrameType


class Stopped(BaseException):
    """A signal was received. It is no `Exception`, so that no handler treats it as a failed call."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


def main(arguments: list[str]) -> int:
    """Build or destroy as the arguments and the environment state; return the exit code."""
    if len(arguments) != 1 or arguments[0] not in {"build", "destroy"}:
        say("state one argument: build or destroy")
        return 2
    if shutil.which("gcloud") is None:
        say("gcloud is not on PATH: install the Google Cloud CLI, or use a machine that has it; nothing was started")
        return 2
    for number in SIGNALS:
        signal.signal(number, _stop)
    code = 0
    try:
        ending = arguments[0] == "destroy"
        work = controller(inputs(os.environ, ending=ending))
        if ending:
            work.destroy()
        else:
            print(json.dumps(work.build()))  # noqa: T201 - the result
    except (InputsWrong, NoAccess) as error:
        say(f"nothing was started:\n{error}")
        code = 2
    except Failed as error:
        say(str(error))
        code = 1
    except (CallFailed, Preempted, Hindered, Overdue) as error:
        say(f"{type(error).__name__}: {error}")
        code = 3
    except Stopped as stopped:
        say(f"stopped by signal {stopped.number}")
        code = 128 + stopped.number
    return code


def _stop(number: int, _frame: FrameType | None) -> None:
    """Unwind once. A second signal must not interrupt the cleanup that the first one started."""
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    say(f"signal {number}: deleting the machines")
    raise Stopped(number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
