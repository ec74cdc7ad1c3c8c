"""A local server with S3 and KMS for the Pulumi CLI; moto answers."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from moto.moto_proxy.proxy3 import MotoRequestHandler

_HOSTS: Final = {"kms": "https://kms.us-west-2.amazonaws.com", "s3": "https://s3.us-west-2.amazonaws.com"}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        """Answer as the service that signed the request."""
        service = "kms" if "/kms/" in self.headers.get("Authorization", "") else "s3"
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        reply = MotoRequestHandler(0).parse_request(
            self.command, _HOSTS[service], self.path, dict(self.headers.items()), body
        )
        status, headers, content = reply
        data = content if isinstance(content, bytes) else str(content).encode()
        self.send_response(status)
        for key, value in headers.items():
            if key.lower() not in ("content-length", "connection", "date", "server"):
                self.send_header(key, str(value))
        length = headers.get("content-length", len(data)) if self.command == "HEAD" else len(data)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    do_DELETE = do_GET = do_HEAD = do_POST = do_PUT = answer  # noqa: N815  # the names of the methods of HTTP

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class names it
        """Print nothing."""


@contextlib.contextmanager
def serve() -> Generator[str]:
    """Serve S3 and KMS; yield the URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
