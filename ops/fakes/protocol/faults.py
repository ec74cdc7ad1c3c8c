"""Faults on demand: the n-th call of an operation fails, hangs, or kills the provider or the engine."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

MUTATION: Final = "mutation"
"""Any operation that changes the cloud: `create`, `update` or `delete`."""
_MUTATIONS: Final = ("create", "update", "delete")


class FaultKind(StrEnum):
    """The kind of failure of a call."""

    FAIL = "fail"
    """The cloud refuses the call and does nothing."""
    TIME_OUT = "time-out"
    """The cloud carries the call out, and the provider gives up waiting for it."""
    HANG = "hang"
    """The call does not return until it is cancelled."""
    DIE = "die"
    """The provider dies before it calls the cloud."""
    DIE_AFTER = "die-after"
    """The provider dies after the cloud is done, before it answers the engine."""
    KILL = "kill"
    """SIGKILL ends the engine before the cloud is called."""
    KILL_AFTER = "kill-after"
    """SIGKILL ends the engine after the cloud is done, before it gets the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One failing call."""

    operation: str
    """`create`, `read`, `update`, `delete`, `check`, `diff`, or `mutation` for any change."""
    nth: int = 1
    """The number of the call, from 1, among the calls that match."""
    type: str = ""
    """The type token; empty for any type."""
    kind: FaultKind = FaultKind.FAIL
    message: str = "InternalError: An internal error has occurred. (an injected fault)"
    """The error of a refused call."""


class Faults:
    """The faults of one engine, and how many calls each has counted."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._lock = threading.Lock()
        self._counts = dict.fromkeys(faults, 0)
        self.hanging = threading.Event()
        """Set once a call hangs."""

    def arm(self, fault: Fault) -> None:
        """Add a fault; it counts calls from now on."""
        with self._lock:
            self._counts[fault] = 0

    def disarm(self) -> tuple[Fault, ...]:
        """Remove all faults; return those that no call had."""
        with self._lock:
            unused = tuple(fault for fault, count in self._counts.items() if count < fault.nth)
            self._counts.clear()
        return unused

    def due(self, operation: str, type_: str) -> Fault | None:
        """Count this call, and return its fault, if any."""
        with self._lock:
            for fault, count in self._counts.items():
                if operation in _matched(fault.operation) and fault.type in ("", type_):
                    self._counts[fault] = count + 1
                    if count + 1 == fault.nth:
                        return fault
        return None


def _matched(operation: str) -> tuple[str, ...]:
    """Return the operations that a fault counts."""
    return _MUTATIONS if operation == MUTATION else (operation,)
