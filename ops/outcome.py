"""The exit codes of commands, and the exception that ends a command with one."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes."""

    GOOD = 0
    """Success."""
    FINDING = 1
    """A finding that must stop the change."""
    WRONG = 2
    """The stack file or the arguments are invalid."""
    OUTSIDE = 3
    """Something outside this project failed."""
    INTERRUPTED = 130
    """Ctrl-C was pressed."""
    CLOSED = 141
    """The reader of the output ended first, as in `make plan | head`."""


class Stop(Exception):
    """End a command with a code and a message, without a traceback."""

    def __init__(self, code: Exit, message: str = "") -> None:
        self.code = code
        self.message = message
        super().__init__(message)
