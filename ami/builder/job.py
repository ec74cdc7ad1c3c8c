"""One machine's work, and the ways in which it can end. No calls are made here."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass


class Preempted(Exception):
    """Google took the machine away."""


class Failed(Exception):
    """What ran on the machine failed, and said so."""


class Hindered(Exception):
    """What ran on the machine could not get what it needs from elsewhere, and so knows nothing of the image."""


class Overdue(Exception):
    """The machine had no report in all the time that it was given."""


ELSEWHERE = ("registry",)
"""The stages whose failure is not the image's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A machine to run one script, and what to wait for."""

    name: str
    """The machine's name."""
    hash: str
    """What a good report ends with."""
    image: tuple[str, ...]
    """gcloud's arguments for the image to boot."""
    shape: tuple[str, ...]
    """gcloud's arguments for machine type, disk and GPU."""
    script: str
    """What it runs at every boot."""
    minutes: int
    """The longest that it may live."""
    zones: tuple[str, ...]
    """Where to try, in turn."""
    provisioning: tuple[str, ...]
    """SPOT, STANDARD: what to try, in turn, in each zone."""
    stops: bool = False
    """Whether it is stopped after a good report, for its disk."""


def say(text: str) -> None:
    """Tell the person who waits. Standard output is for the result alone."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)  # noqa: T201 - a command's own words
