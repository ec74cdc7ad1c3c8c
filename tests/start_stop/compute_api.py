"""A local HTTP server that speaks the part of the Compute API that starts and stops one instance."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from google.auth.credentials import AnonymousCredentials
from google.cloud import compute_v1

from gpu_ci.back_ends.start_stop.gpu_instance.gce import Gce

INSTANCE = "/compute/v1/projects/gpu-test/zones/us-central1-a/instances/gpu-ci-test-gpu"
OPERATION = "/compute/v1/projects/gpu-test/zones/us-central1-a/operations/operation-1/wait"


@dataclass(slots=True)
class Compute:
    """The instance, and the answers that are wrong on purpose."""

    status: str = "TERMINATED"
    started: str | None = None
    report: str | None = None
    faults: list[tuple[int, str] | None] = field(default_factory=list)
    """The HTTP status and the message of the next requests, in their order; None is a right answer."""
    errors: list[str] = field(default_factory=list)
    """The codes of the next operations that fail."""
    requests: list[str] = field(default_factory=list)

    def answer(self, method: str, path: str, query: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
        """Return the status and the body of the answer to one request."""
        self.requests.append(f"{method} {path.rsplit('/', 1)[-1]}")
        fault = self.faults.pop(0) if self.faults else None
        if fault is not None:
            return fault[0], {"error": {"code": fault[0], "message": fault[1]}}
        match method, path:
            case "GET", str(one) if one == INSTANCE:
                times = {"lastStartTimestamp": self.started} if self.started else {}
                return 200, {"name": "gpu-ci-test-gpu", "status": self.status, **times}
            case "GET", str(one) if one == f"{INSTANCE}/getGuestAttributes":
                return self._attribute(query["queryPath"][0])
            case "POST", str(one) if one in {f"{INSTANCE}/start", f"{INSTANCE}/stop"}:
                self._change(one.rsplit("/", 1)[-1])
                return 200, {"name": "operation-1", "status": "RUNNING"}
            case "POST", str(one) if one == OPERATION:
                errors = [{"code": self.errors.pop(0), "message": "try another zone"}] if self.errors else []
                return 200, {"name": "operation-1", "status": "DONE", "error": {"errors": errors}}
            case _:
                return 404, {"error": {"code": 404, "message": f"{path} was not found"}}

    def _attribute(self, path: str) -> tuple[int, dict[str, Any]]:
        if self.status != "RUNNING":
            return 400, {"error": {"code": 400, "message": "The resource is not ready"}}
        if self.report is None or path != "gpu-ci/runner":
            return 404, {"error": {"code": 404, "message": "there is no such guest attribute"}}
        item = {"namespace": "gpu-ci", "key": "runner", "value": self.report}
        return 200, {"queryPath": path, "queryValue": {"items": [item]}}

    def _change(self, asked: str) -> None:
        if self.errors:
            return
        self.status = "RUNNING" if asked == "start" else "TERMINATED"


@contextmanager
def serving(compute: Compute) -> Iterator[Gce]:
    """Serve the API, and yield the instance that it has."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            asked = urlsplit(self.path)
            status, body = compute.answer(self.command, asked.path, parse_qs(asked.query))
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = _answer  # noqa: N815 - the names of the server

        def log_message(self, *_: object) -> None:
            """Show nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield instance(f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def instance(address: str) -> Gce:
    """Return the instance of the tests at an address."""
    options = {"api_endpoint": address}
    anonymous = AnonymousCredentials()  # type: ignore[no-untyped-call]
    return Gce(
        instances=compute_v1.InstancesClient(credentials=anonymous, client_options=options),
        operations=compute_v1.ZoneOperationsClient(credentials=anonymous, client_options=options),
        project="gpu-test",
        zone="us-central1-a",
        name="gpu-ci-test-gpu",
    )
