"""The work of one machine, and the errors that end it."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass


class Preempted(Exception):
    """Google preempted the machine."""


class Failed(Exception):
    """The script on the machine reported a failure."""


class Hindered(Exception):
    """The script on the machine could not reach another service, so it reports nothing about the image."""


class Overdue(Exception):
    """The machine did not report within its time limit."""


ELSEWHERE = ("registry",)
"""The stages whose failure the image does not cause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A machine that runs one script and reports its result."""

    name: str
    """The name of the machine."""
    hash: str
    """The end of a successful report."""
    image: tuple[str, ...]
    """Arguments of gcloud for the image to boot."""
    shape: tuple[str, ...]
    """Arguments of gcloud for machine type, disk and GPU."""
    script: str
    """The script that runs at every boot."""
    minutes: int
    """The time limit of the machine."""
    zones: tuple[str, ...]
    """The zones to try, in order."""
    provisioning: tuple[str, ...]
    """The provisioning models to try, in order, in each zone: SPOT, STANDARD."""
    stops: bool = False
    """Whether to stop it after a successful report, to create an image from its disk."""


def say(text: str) -> None:
    """Write a message to standard error. Standard output contains only the result."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)  # noqa: T201 - messages of a command
