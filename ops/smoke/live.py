"""The live cluster and the real time."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from kubernetes import client
from urllib3.exceptions import HTTPError

from ops.doctor.live.cluster import LiveCluster
from ops.doctor.source import Unanswered

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_TIMEOUT: Final = (5, 30)
TOKEN_LIFE: Final = timedelta(minutes=10)
"""The time after which a new token is signed. EKS accepts one for 15 minutes (EKS API, 2026)."""


class WritableCluster(LiveCluster):
    """A cluster in which Jobs can be created."""

    def create(self, path: str, body: Mapping[str, Any]) -> None:
        """Create an object."""
        self._change("POST", path, dict(body))

    def delete(self, path: str) -> None:
        """Delete an object with its pods."""
        self._change("DELETE", path, {"propagationPolicy": "Background"}, missing=True)

    def _change(self, method: str, path: str, body: Mapping[str, Any], *, missing: bool = False) -> None:
        try:
            self._client.call_api(
                path,
                method,
                body=body,
                header_params={"Accept": "application/json", "Content-Type": "application/json"},
                auth_settings=["BearerToken"],
                _preload_content=False,
                _return_http_data_only=True,
                _request_timeout=_TIMEOUT,
            )
        except client.ApiException as fault:
            if missing and fault.status == 404:
                return
            raise Unanswered(f"the cluster answered {method} {path} with {fault.status} ({_text(fault)})") from None
        except (HTTPError, OSError) as fault:
            raise Unanswered(f"the API of Kubernetes cannot be reached ({_text(fault)})") from None


def _text(fault: Exception) -> str:
    return " ".join(str(getattr(fault, "body", None) or fault).split())[:300]


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
