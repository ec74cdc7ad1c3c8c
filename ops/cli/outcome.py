"""How a command ends: its exit code, and the message of an end that was not the good one."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What a pipeline reads from a command."""

    GOOD = 0
    """Everything holds."""
    FINDING = 1
    """Something was found that must stop the change."""
    WRONG = 2
    """The stack file or the arguments are wrong."""
    OUTSIDE = 3
    """Something that is not ours to mend failed."""
    INTERRUPTED = 130
    """Somebody pressed Ctrl-C."""


class Stop(Exception):
    """Ends a command with a code and a message, and without a traceback."""

    def __init__(self, code: Exit, message: str = "") -> None:
        self.code = code
        self.message = message
        super().__init__(message)
