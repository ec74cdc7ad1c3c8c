"""The live cluster and the real time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from kubernetes import client

from ops.doctor.world.live.cluster import LiveCluster, refused

TOKEN_LIFE: Final = timedelta(minutes=10)
"""The time after which a new token is signed. EKS accepts one for 15 minutes (EKS API, 2026)."""


class WritableCluster(LiveCluster):
    """A cluster in which Jobs can be created."""

    def create(self, path: str, body: Mapping[str, Any]) -> None:
        """Create an object."""
        try:
            self._call("POST", path, body=body)
        except client.ApiException as fault:
            raise refused(f"POST {path}", fault) from None

    def delete(self, path: str) -> None:
        """Delete an object with its pods."""
        try:
            self._call("DELETE", path, body={"propagationPolicy": "Background"})
        except client.ApiException as fault:
            if fault.status != 404:
                raise refused(f"DELETE {path}", fault) from None


class Reconnecting:
    """A cluster whose token is renewed before it expires."""

    def __init__(self, connect: Callable[[], WritableCluster], now: Callable[[], datetime]) -> None:
        self._connect = connect
        self._now = now
        self._cluster = connect()
        self._since = now()

    def ask(self, call: str, /, **arguments: Any) -> Any:
        """Return the answer of the cluster."""
        return self._current().ask(call, **arguments)

    def create(self, path: str, body: Mapping[str, Any]) -> None:
        """Create an object."""
        self._current().create(path, body)

    def delete(self, path: str) -> None:
        """Delete an object."""
        self._current().delete(path)

    def _current(self) -> WritableCluster:
        if self._now() - self._since >= TOKEN_LIFE:
            self._cluster, self._since = self._connect(), self._now()
        return self._cluster


class RealTime:
    """The clock of this machine."""

    def now(self) -> datetime:
        """Return the current time."""
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)
