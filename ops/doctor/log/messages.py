"""Known messages in logs of jobs, pods and machines, and the search for them.

The YAML files of this folder have the messages; the runbook has an entry for each, under its name. The first message
that a line has counts. `make doctor LOG=file` reads the log of a job.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, TypeAdapter

from gpu_ci.repository.documents import load_yaml


class Message(BaseModel):
    """A message that people see, with its meaning and its fix."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    """The name in kebab case; also the anchor of its entry in the runbook."""
    text: str
    """The constant part of the message, as people see and search it."""
    meaning: str
    fix: str
    patterns: tuple[str, ...] = ()
    """Regular expressions of other lines with the message."""
    commands: tuple[str, ...] = ()
    """Commands that show more, where the message appears: in the job, in its pod or on its machine."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of a line with the message, in upper and lower case."""
        return re.compile("|".join((re.escape(self.text), *self.patterns)), re.IGNORECASE)


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


def read(name: str) -> tuple[Message, ...]:
    """Return the messages of a file of this folder."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return TypeAdapter(tuple[Message, ...]).validate_python(load_yaml(text, name))


MESSAGES: Final = (*read("gpu_ci.yaml"), *read("gpus.yaml"), *read("runners.yaml"))
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
