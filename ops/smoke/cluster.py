"""The questions and changes that a smoke test makes, and the time in which it makes them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol


class Kubernetes(Protocol):
    """The API of a cluster. Every method raises `ops.doctor.world.source.Unanswered` if the cluster does not answer."""

    def ask(self, call: str, /, **arguments: Any) -> Any:
        """Return the object or the list at a path, or the text of a log; None if it does not exist."""
        ...

    def create(self, path: str, body: Mapping[str, Any]) -> None:
        """Create an object in the collection at a path."""
        ...

    def delete(self, path: str) -> None:
        """Delete the object at a path, with everything that it owns. A missing object is no error."""
        ...


class Clock(Protocol):
    """The time."""

    def now(self) -> datetime:
        """Return the current time with a time zone."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...
