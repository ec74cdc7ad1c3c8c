"""Known messages in logs of jobs, pods and machines, and the search for them.

The runbook has an entry for each message, under its name. `make doctor LOG=file` reads the log of a job.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ops.doctor.log.messages_of_gpu_ci import OWN
from ops.doctor.log.messages_of_gpus import GPU, ORT
from ops.doctor.log.messages_of_runners import CLOUD, RUNNER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops.doctor.log.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A message in a log."""

    message: Message
    line: str
    """The first line with it, without its time."""
    number: int
    """The number of that line."""
    times: int
    """The number of lines with the message."""


MESSAGES: Final[tuple[Message, ...]] = (*OWN, *GPU, *ORT, *RUNNER, *CLOUD)
"""Every message. The first one that a line has counts, so that our own messages come first."""

_TIME: Final = re.compile(r"^\ufeff?(\d{4}-\d\d-\d\dT[\d:.]+Z )?(##\[\w+\])?")
"""The time at the start of a line in a log of GitHub, and its mark."""
_LONGEST: Final = 300


def found_in(log: str) -> list[Found]:
    """Return the known messages of a log, in the order of their first lines."""
    first: dict[str, tuple[Message, str, int]] = {}
    times: dict[str, int] = {}
    for number, line in enumerate(log.splitlines(), start=1):
        for message in _first_of(line):
            first.setdefault(message.name, (message, _TIME.sub("", line).strip()[:_LONGEST], number))
            times[message.name] = times.get(message.name, 0) + 1
    return [
        Found(message=message, line=line, number=number, times=times[name])
        for name, (message, line, number) in first.items()
    ]


def _first_of(line: str) -> Iterator[Message]:
    """Yield the first message that a line has."""
    for message in MESSAGES:
        if message.pattern.search(line):
            yield message
            return
