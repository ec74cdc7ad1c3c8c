"""A local HTTP server with prepared answers, which can fail as a real one does."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer to a request."""

    body: Any = None
    """JSON, or a text."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0
    """Seconds until the answer."""
    token: str = ""
    """The token without which the answer is 401; empty where none is needed."""


@dataclass
class Server:
    """A running server: its address, its answers by method and path, and the requests that it got."""

    url: str
    answers: dict[str, Answer] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    """The method with the path, and the body of each request."""


@contextlib.contextmanager
def serving() -> Generator[Server]:
    """Run a server until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer()

        def do_HEAD(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def _answer(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            server.requests.append((f"{self.command} {self.path}", sent))
            plain = f"{self.command} {self.path.partition('?')[0]}"
            known = server.answers.get(f"{self.command} {self.path}", server.answers.get(plain, Answer(status=404)))
            time.sleep(known.seconds)
            refused = known.token and self.headers.get("Authorization") != f"Bearer {known.token}"
            content = known.body if isinstance(known.body, str) else json.dumps(known.body)
            kind = "text/plain" if isinstance(known.body, str) else "application/json"
            with contextlib.suppress(BrokenPipeError):
                self.send_response(401 if refused else known.status)
                for name, value in {"Content-Type": kind, **known.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content.encode())

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the parameter of the base class
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    server = Server(url=f"http://127.0.0.1:{httpd.server_port}")
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()
