"""Calls of gcloud, each with an upper bound and with an error that says what kind it is.

Owns how a call is made and how its failure is read. gcloud says no more than a sentence on standard error; the words
by which a stock-out is known are those of its own messages and of the Compute API's error codes (SDK 528).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import Any, Final

GRACE_SECONDS: Final = 30
"""How long a call that is under way may go on after a signal: what it began at Google can only be undone once known."""

_NOT_FOUND = re.compile(r"\b404\b|was not found|not found|NOT_FOUND|matched no objects", re.IGNORECASE)
_NO_CAPACITY = re.compile(
    r"ZONE_RESOURCE_POOL_EXHAUSTED|does not have enough resources|STOCKOUT|QUOTA_EXCEEDED|Quota '.*' exceeded"
    r"|is currently unavailable in the|does not exist in zone"
    # A zone that never has such a machine is passed over like one that has none now.
    r"|(machineTypes|acceleratorTypes)/\S+ was not found",
    re.IGNORECASE,
)
_EXISTS = re.compile(r"already exists", re.IGNORECASE)
_HICCUP = re.compile(
    r"HTTP ?Error (429|5\d\d)|\b50[0234]\b.{0,20}(error|unavailable|gateway)|backend ?error|internal[ _]?error"
    r"|UNAVAILABLE|rate ?limit ?exceeded|RATE_LIMIT_EXCEEDED|Quota exceeded for quota metric"
    r"|connection (was )?(reset|aborted)|remote end closed|temporary failure in name resolution",
    re.IGNORECASE,
)
"""What Google's API asks its callers to try again."""

TRIES: Final = 4
"""A call is made again so often: a build is half an hour, and not to be thrown away for one answer of 503."""


class CallFailed(Exception):
    """A call that gcloud refused, or that took too long."""

    def __init__(self, call: str, text: str) -> None:
        self.text = text.strip()
        super().__init__(f"gcloud {call}: {self.text}")


class NotThere(CallFailed):
    """What the call was about does not exist."""


class NoCapacity(CallFailed):
    """The zone has no such machine now, or the quota is used up."""


class Hiccup(CallFailed):
    """Google's API was not well for a moment."""


class NoAccess(CallFailed):
    """The project cannot even be read: nobody is logged in, or it is another's."""


class Exists(CallFailed):
    """What was to be made is there already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gcloud:
    """gcloud, in one project."""

    project: str
    """The project of every call."""
    call_seconds: int = 300
    """How long one call may take."""
    pause_seconds: float = 15
    """Before a call is made again; longer before each further one."""

    def run(self, *arguments: str, seconds: int | None = None, tries: int = TRIES, quiet: bool = True) -> str:
        """What the call printed. It is made again after a hiccup, so that what makes something may find it there.

        A quiet call takes gcloud's proposals; any other fails where gcloud would ask.

        Raises:
            CallFailed: it failed, or took longer than it may.

        """
        for further in range(1, tries):
            try:
                return self._once(*arguments, seconds=seconds, quiet=quiet)
            except Hiccup:
                time.sleep(self.pause_seconds * further)
        return self._once(*arguments, seconds=seconds, quiet=quiet)

    def _once(self, *arguments: str, seconds: int | None, quiet: bool) -> str:
        call = " ".join(arguments[:3])
        process = subprocess.Popen(
            ["gcloud", *(["--quiet"] if quiet else []), "--project", self.project, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # A Ctrl-C must reach this program alone, which then takes down what gcloud has begun.
            start_new_session=True,
        )
        try:
            out, error = process.communicate(timeout=seconds or self.call_seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            raise CallFailed(call, f"no answer in {seconds or self.call_seconds} seconds") from None
        except BaseException:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=GRACE_SECONDS)
            _end(process)
            raise
        if process.returncode != 0:
            raise _failure(error)(call, error or f"ended with {process.returncode}")
        return out

    def json(self, *arguments: str) -> Any:
        """What the call answered, as data."""
        return json.loads(self.run(*arguments, "--format=json") or "null")


def _failure(text: str) -> type[CallFailed]:
    # A stock-out first: Google answers some with the number of a hiccup, and no second try would help.
    for pattern, kind in (
        (_NO_CAPACITY, NoCapacity), (_EXISTS, Exists), (_HICCUP, Hiccup), (_NOT_FOUND, NotThere)
    ):  # fmt: skip
        if pattern.search(text):
            return kind
    return CallFailed


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
