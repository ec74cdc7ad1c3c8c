"""A local Cloud Storage server for the Pulumi CLI."""

from __future__ import annotations

import contextlib
import json
import socket
import urllib.parse
import urllib.request
from collections.abc import Generator
from dataclasses import dataclass

from gcp_storage_emulator.server import create_server


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server with one bucket."""

    address: str
    bucket: str

    @property
    def environment(self) -> dict[str, str]:
        """The environment with which the CLI keeps its state in the bucket."""
        return {
            "GOOGLE_OAUTH_ACCESS_TOKEN": "token",
            "PULUMI_BACKEND_URL": f"gs://{self.bucket}",
            "STORAGE_EMULATOR_HOST": self.address,
        }

    def objects(self) -> dict[str, str]:
        """Return the objects with their content."""
        found = json.loads(self._get("")).get("items", [])
        return {one["name"]: self._get(f"/{urllib.parse.quote(one['name'], safe='')}?alt=media") for one in found}

    def _get(self, path: str) -> str:
        with urllib.request.urlopen(f"http://{self.address}/storage/v1/b/{self.bucket}/o{path}") as answer:
            content: bytes = answer.read()
        return content.decode()


@contextlib.contextmanager
def serve(bucket: str) -> Generator[Server]:
    """Serve one empty bucket."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with create_server("127.0.0.1", port, in_memory=True, default_bucket=bucket):
        yield Server(address=f"127.0.0.1:{port}", bucket=bucket)
