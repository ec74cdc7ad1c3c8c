"""Calls of gcloud, each with a time limit and with typed errors.

gcloud reports an error only as a sentence on standard error. The patterns match its messages and the error codes of the
Compute API (SDK 528).
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
"""Seconds that a running call has after a signal. The cleanup needs to know what the call created."""

_NOT_FOUND = re.compile(r"\b404\b|was not found|not found|NOT_FOUND|matched no objects", re.IGNORECASE)
_NO_CAPACITY = re.compile(
    r"ZONE_RESOURCE_POOL_EXHAUSTED|does not have enough resources|STOCKOUT|QUOTA_EXCEEDED|Quota '.*' exceeded"
    r"|is currently unavailable in the|does not exist in zone"
    # A zone that never has the machine is skipped like one without capacity.
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
"""Errors after which Google's API asks callers to try again."""

TRIES: Final = 4
"""The number of tries of a call. One error 503 must not fail a build of half an hour."""


class CallFailed(Exception):
    """A call failed or took too long."""

    def __init__(self, call: str, text: str) -> None:
        self.text = text.strip()
        super().__init__(f"gcloud {call}: {self.text}")


class NotThere(CallFailed):
    """The object does not exist."""


class NoCapacity(CallFailed):
    """The zone has no capacity, or the quota is exhausted."""


class Hiccup(CallFailed):
    """Google's API had a temporary error."""


class NoAccess(CallFailed):
    """The project cannot be read: gcloud is not logged in or has no permission."""


class Exists(CallFailed):
    """The object already exists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gcloud:
    """gcloud, in one project."""

    project: str
    call_seconds: int = 300
    """The time limit of a call."""
    pause_seconds: float = 15
    """The pause before the second try. Later pauses are longer."""

    def run(self, *arguments: str, seconds: int | None = None, tries: int = TRIES, quiet: bool = True) -> str:
        """Return the output of a call. It is repeated after a temporary error: an object may then exist already.

        A quiet call accepts gcloud's defaults; any other call fails where gcloud would ask.

        Raises:
            CallFailed: it failed or took too long.

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
            # Ctrl-C must reach only this program, which then deletes what gcloud created.
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
        """Return the parsed JSON output of a call."""
        return json.loads(self.run(*arguments, "--format=json") or "null")


def _failure(text: str) -> type[CallFailed]:
    # Missing capacity is first: Google reports some cases with a temporary error code, and a second try fails, too.
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
