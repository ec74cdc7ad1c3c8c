"""The live cluster of a smoke test, against a local HTTP server that speaks the part of the API that it needs."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from kubernetes import client

from ops.doctor.world.source import Unanswered
from ops.smoke.live import TOKEN_LIFE, Reconnecting, WritableCluster
from ops.smoke.run import JOBS

pytestmark = pytest.mark.pure


class Api(ThreadingHTTPServer):
    """An API server with a store of objects, and an answer for every request if a test sets one."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.store: dict[str, Any] = {}
        self.requests: list[tuple[str, str, Any]] = []
        self.broken: int | None = None


class _Handler(BaseHTTPRequestHandler):
    server: Api

    def _do(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body: Any = json.loads(self.rfile.read(length)) if length else None
        path = self.path.partition("?")[0]
        self.server.requests.append((self.command, self.path, body))
        if self.server.broken:
            self._send(self.server.broken, {"kind": "Status", "message": "etcdserver: request timed out"})
        elif self.command == "POST":
            self.server.store[f"{path}/{body['metadata']['name']}"] = body
            self._send(201, body)
        elif path not in self.server.store:
            self._send(404, {"kind": "Status", "message": "not found"})
        elif self.command == "DELETE":
            self._send(200, self.server.store.pop(path))
        else:
            self._send(200, self.server.store[path])

    do_GET = do_POST = do_DELETE = _do  # noqa: N815 - names of the base class

    def _send(self, code: int, body: Any) -> None:
        content = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
        pass


@pytest.fixture
def api() -> Iterator[Api]:
    server = Api()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def connected(api: Api) -> WritableCluster:
    configuration = client.Configuration()
    configuration.host = f"http://127.0.0.1:{api.server_address[1]}"
    return WritableCluster(configuration)


def test_an_object_is_created_read_and_deleted_with_its_pods(api: Api) -> None:
    cluster, job = connected(api), {"kind": "Job", "metadata": {"name": "a"}}
    cluster.create(JOBS, job)
    found = cluster.ask(f"{JOBS}/a", labelSelector="x=y")
    cluster.delete(f"{JOBS}/a")

    assert found == job
    assert api.store == {}
    assert [(method, path.partition("namespaces/")[2]) for method, path, _ in api.requests] == [
        ("POST", "gpu-smoke/jobs"),
        ("GET", "gpu-smoke/jobs/a?labelSelector=x%3Dy"),
        ("DELETE", "gpu-smoke/jobs/a"),
    ]
    assert api.requests[-1][2] == {"propagationPolicy": "Background"}


def test_deleting_a_missing_object_is_not_an_error(api: Api) -> None:
    connected(api).delete(f"{JOBS}/a")

    assert api.requests[-1][0] == "DELETE"


@pytest.mark.parametrize("method", ["create", "delete"])
def test_an_error_of_the_api_has_its_code_and_message(method: str, api: Api) -> None:
    api.broken = 500
    cluster = connected(api)
    with pytest.raises(Unanswered, match=r"with 500 .*etcdserver: request timed out"):
        cluster.create(JOBS, {"metadata": {"name": "a"}}) if method == "create" else cluster.delete(f"{JOBS}/a")


def test_a_refused_change_names_the_list_of_administrators(api: Api) -> None:
    api.broken = 403
    with pytest.raises(Unanswered) as unanswered:
        connected(api).create(JOBS, {"metadata": {"name": "a"}})

    assert unanswered.value.reason == f"the cluster refuses POST {JOBS} (etcdserver: request timed out)"
    assert "cluster.administrators" in unanswered.value.fix


def test_an_unreachable_server_is_reported() -> None:
    server = Api()
    cluster = connected(server)
    server.server_close()

    with pytest.raises(Unanswered, match="cannot be reached"):
        cluster.create(JOBS, {"metadata": {"name": "a"}})


def test_the_token_is_renewed_before_it_expires(api: Api) -> None:
    at = [datetime(2026, 11, 20, tzinfo=UTC)]
    connections: list[int] = []

    def connect() -> WritableCluster:
        connections.append(1)
        return connected(api)

    cluster = Reconnecting(connect, lambda: at[0])
    cluster.ask("/a")
    at[0] += TOKEN_LIFE - timedelta(seconds=1)
    cluster.ask("/a")
    before = len(connections)
    at[0] += timedelta(seconds=1)
    cluster.ask("/a")

    assert (before, len(connections)) == (1, 2)
