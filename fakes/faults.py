"""Faults on demand: the n-th call of an operation fails, hangs, or takes the provider down with it.

Owns the counting. Who asks is `fakes.provider`, before and after it asks the cloud.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Ill(StrEnum):
    """What befalls a call."""

    FAIL = "fail"
    """The cloud refuses it, with nothing done."""
    HANG = "hang"
    """No answer comes until somebody cancels."""
    DIE = "die"
    """The provider dies before the cloud hears of it."""
    DIE_AFTER = "die-after"
    """The provider dies after the cloud has done it, before anybody hears."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is to go wrong, once."""

    operation: str
    """`create`, `read`, `update`, `delete`, `check` or `diff`."""
    nth: int = 1
    """At which call, counted from 1 among those that match."""
    type: str = ""
    """Of which type token; empty for any."""
    ill: Ill = Ill.FAIL
    message: str = "InternalError: An internal error has occurred. (a fault that was asked for)"
    """What the cloud says where it fails."""


class Faults:
    """The faults of one rehearsal, and how far each has counted."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._lock = threading.Lock()
        self._counts = dict.fromkeys(faults, 0)

    def arm(self, fault: Fault) -> None:
        """Let one more thing go wrong, counted from now on."""
        with self._lock:
            self._counts[fault] = 0

    def disarm(self) -> None:
        """Let nothing go wrong any more."""
        with self._lock:
            self._counts.clear()

    def due(self, operation: str, type_: str) -> Fault | None:
        """Count this call, and return what is to go wrong with it."""
        with self._lock:
            for fault, count in self._counts.items():
                if fault.operation == operation and fault.type in ("", type_):
                    self._counts[fault] = count + 1
                    if count + 1 == fault.nth:
                        return fault
        return None
