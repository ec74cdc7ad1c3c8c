"""Servers for the fake providers on the loopback interface; the engine attaches to them instead of starting plugins.

Each package has its own server, so that a fault can kill one of them. All share one cloud.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent import futures
from typing import Final

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from ops.fakes.cloud.cloud import Cloud
from ops.fakes.protocol.faults import Faults
from ops.fakes.protocol.provider import FakeProvider

PACKAGES: Final = ("aws", "command", "docker-build", "gcp", "github", "kubernetes")
"""Every package that the program can use."""
_LARGEST_MESSAGE: Final = 400 * 1024 * 1024
"""The engine's own limit, in bytes."""


class ProviderServers:
    """The servers of one engine."""

    def __init__(
        self,
        cloud: Cloud,
        faults: Faults,
        kill_engine: Callable[[], None] = lambda: None,
        packages: Sequence[str] = PACKAGES,
    ) -> None:
        self._cloud = cloud
        self._faults = faults
        self._kill_engine = kill_engine
        self._packages = packages
        self._servers: dict[str, tuple[grpc.Server, int]] = {}

    @property
    def attached(self) -> str:
        """The value of `PULUMI_DEBUG_PROVIDERS`."""
        return ",".join(f"{package}:{port}" for package, (_, port) in sorted(self._servers.items()))

    def start(self) -> None:
        """Start every server that does not run."""
        for package in self._packages:
            if package not in self._servers:
                self._servers[package] = self._serve(package)

    def kill(self, package: str) -> None:
        """Stop one server at once, without answering its open calls."""
        server, _ = self._servers.pop(package, (None, 0))
        if server is not None:
            server.stop(None)

    def stop(self) -> None:
        """Stop all servers."""
        for package in list(self._servers):
            self.kill(package)

    def _serve(self, package: str) -> tuple[grpc.Server, int]:
        server = grpc.server(
            futures.ThreadPoolExecutor(max_workers=64, thread_name_prefix=f"fake-{package}"),
            options=[
                ("grpc.max_receive_message_length", _LARGEST_MESSAGE),
                ("grpc.max_send_message_length", _LARGEST_MESSAGE),
                # Two engines must not share a port.
                ("grpc.so_reuseport", 0),
            ],
        )
        provider = FakeProvider(
            package, self._cloud, self._faults, die=lambda: self.kill(package), kill_engine=self._kill_engine
        )
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(provider, server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        return server, port
