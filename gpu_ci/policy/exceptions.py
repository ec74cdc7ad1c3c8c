"""Exceptions of the stack file: each allows one finding of a check or of a rule until a day, with a reason.

The program, the plan and the policy pack ask this module, so that they agree. A day is a day of UTC.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Final, Protocol

LONGEST: Final = timedelta(days=366)
"""The longest time that an exception may have left. It is then renewed, or its finding is fixed."""
SOON: Final = timedelta(days=14)
"""The time before the end in which the plan warns."""
TODAY: Final = "GPU_CI_TODAY"
"""The environment variable with another day, for the state of an older commit and for tests."""


class Stated(Protocol):
    """An exception as the stack file states it."""

    @property
    def check(self) -> str:
        """The name of a check or of a policy rule."""
        ...

    @property
    def subject(self) -> str:
        """The subject of the finding, as the plan prints it."""
        ...

    @property
    def reason(self) -> str:
        """The reason why the finding is acceptable."""
        ...

    @property
    def until(self) -> date:
        """The last day on which the finding is allowed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """An exception that is read from the configuration of Pulumi, without the types of the stack file."""

    check: str
    subject: str
    reason: str
    until: date


class State(StrEnum):
    """The state of an exception on a day."""

    VALID = "valid"
    SOON = "ends soon"
    """It is valid for two more weeks at most."""
    EXPIRED = "expired"
    TOO_LONG = "too long"
    """It would be valid for more than a year."""


ALLOWING: Final = frozenset({State.VALID, State.SOON})
"""The states in which an exception allows its finding."""


def today() -> date:
    """Return the current day."""
    given = os.environ.get(TODAY)
    return date.fromisoformat(given) if given else datetime.now(UTC).date()


def state(until: date, on: date) -> State:
    """Return the state on a day of an exception that is valid until another day."""
    left = until - on
    if left < timedelta():
        return State.EXPIRED
    if left > LONGEST:
        return State.TOO_LONG
    return State.SOON if left <= SOON else State.VALID


def allowing(stated: Mapping[str, Stated], check: str, subject: str, on: date) -> str | None:
    """Return the name of the exception that allows a finding on a day; None if none does."""
    for name, one in stated.items():
        if (one.check, one.subject) == (check, subject) and state(one.until, on) in ALLOWING:
            return name
    return None


def read(text: str | None) -> dict[str, Read]:
    """Return the exceptions in the text of the section, without the invalid ones: the program refuses those."""
    try:
        section = json.loads(text or "{}")
    except ValueError:
        return {}
    found: dict[str, Read] = {}
    for name, one in section.items() if isinstance(section, Mapping) else ():
        try:
            found[name] = Read(
                check=one["check"],
                subject=one["subject"],
                reason=one["reason"],
                until=date.fromisoformat(one["until"]),
            )
        except (KeyError, TypeError, ValueError):
            continue
    return found
