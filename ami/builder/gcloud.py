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
import sys
import time
from dataclasses import dataclass
from typing import Any, Final

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals from a person or from Pulumi. The builder deletes its machines when it receives one."""
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
    r"|UNAVAILABLE|is not ready|rate ?limit ?exceeded|RATE_LIMIT_EXCEEDED|Quota exceeded for quota metric"
    r"|connection (was )?(reset|aborted)|remote end closed|temporary failure in name resolution",
    re.IGNORECASE,
)
"""Errors after which Google's API asks callers to try again."""

TRIES: Final = 4
"""The number of tries of a call. One error 503 must not fail a build of half an hour."""
CALL_SECONDS: Final = 300
"""The time limit of most calls."""


def say(text: str) -> None:
    """Write a message to standard error. Standard output contains only the result."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)  # noqa: T201 - messages of a command


class Outside(Exception):
    """Something failed that the image did not cause."""


class CallFailed(Outside):
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


class Exists(CallFailed):
    """The object already exists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gcloud:
    """gcloud, in one project."""

    project: str
    pause_seconds: float
    """The pause before the second try. Later pauses are longer."""

    def run(self, *arguments: str, seconds: int = CALL_SECONDS) -> str:
        """Return the output of a call. It is repeated after a temporary error: an object may then exist already.

        Raises:
            CallFailed: it failed or took too long.

        """
        for further in range(1, TRIES):
            try:
                return self.once("--quiet", *arguments, seconds=seconds)
            except Hiccup:
                time.sleep(self.pause_seconds * further)
        return self.once("--quiet", *arguments, seconds=seconds)

    def once(self, *arguments: str, seconds: int) -> str:
        """Return the output of a call that is not repeated. With `--quiet` gcloud accepts its defaults.

        Raises:
            CallFailed: it failed, took too long, or gcloud needed an answer.

        """
        call = " ".join([word for word in arguments if word != "--quiet"][:3])
        # Without this, a signal right after the start of the call would leave the call running, and it could create a
        # machine after the cleanup.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            process = subprocess.Popen(
                ["gcloud", "--project", self.project, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                # Ctrl-C must reach only this program, which then deletes what gcloud created.
                start_new_session=True,
            )
        except OSError:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            raise
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            out, error = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            raise CallFailed(call, f"no answer in {seconds} seconds") from None
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
