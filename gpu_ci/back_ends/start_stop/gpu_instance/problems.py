"""The failures of a command, with their exit codes. Each is reported in one line."""

from __future__ import annotations

from typing import ClassVar


class Problem(Exception):
    """A failure that the user can read. Its text says what happened, and what to do about it."""

    code: ClassVar[int] = 1
    """The exit code of the command. 1 is a failure of another kind, and 2 is a wrong argument."""


class NotFound(Problem):
    """The machine does not exist, or its name is ambiguous."""

    code = 3


class Denied(Problem):
    """The credentials are missing or do not allow the call."""

    code = 4


class NoCapacity(Problem):
    """The cloud has no free machine of this type now. The command tries again until its time is over."""

    code = 5


class RunnerFailed(Problem):
    """The machine reports that its runner cannot start, or it stopped before its runner was online."""

    code = 6


class TimedOut(Problem):
    """The machine did not reach the wanted state in time."""

    code = 7


class Unavailable(Problem):
    """The cloud did not answer, or it asked to try later. The command tries again until its time is over."""

    code = 8
