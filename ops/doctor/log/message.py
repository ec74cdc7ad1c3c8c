"""A message in a log: its text, its meaning and its fix."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message that people see, with its meaning and its fix."""

    name: str
    """The name in kebab case; also the anchor of its entry in the runbook."""
    text: str
    """The constant part of the message, as people see and search it."""
    pattern: re.Pattern[str]
    """The pattern of a line with the message."""
    meaning: str
    fix: str
    commands: tuple[str, ...] = ()
    """Commands that show more, where the message appears: in the job, in its pod or on its machine."""


def message(name: str, text: str, meaning: str, fix: str, *more: str, commands: tuple[str, ...] = ()) -> Message:
    """Return a message that is found by its text or by one of the other patterns, in upper and lower case."""
    pattern = re.compile("|".join((re.escape(text), *more)), re.IGNORECASE)
    return Message(name=name, text=text, pattern=pattern, meaning=meaning, fix=fix, commands=commands)
