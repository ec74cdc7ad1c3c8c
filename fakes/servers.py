"""The stand-in providers as servers on this machine, to which the engine attaches instead of starting plugins.

Owns ports and lifetimes. One server a package, so that one can die while the others live; all before one cloud.
"""

from __future__ import annotations

from concurrent import futures
from typing import TYPE_CHECKING, Final

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from fakes.provider import StandInProvider

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fakes.cloud import Cloud
    from fakes.faults import Faults

PACKAGES: Final = ("aws", "command", "docker-build", "gcp", "kubernetes")
"""Every package that a stack of ours may use."""
_LARGEST_MESSAGE: Final = 400 * 1024 * 1024
"""As the engine's own, in bytes."""


class StandIns:
    """The servers of one rehearsal."""

    def __init__(self, cloud: Cloud, faults: Faults, packages: Sequence[str] = PACKAGES) -> None:
        self._cloud = cloud
        self._faults = faults
        self._packages = packages
        self._servers: dict[str, tuple[grpc.Server, int]] = {}

    @property
    def attached(self) -> str:
        """What `PULUMI_DEBUG_PROVIDERS` must say."""
        return ",".join(f"{package}:{port}" for package, (_, port) in sorted(self._servers.items()))

    def start(self) -> None:
        """Start what is not running, such as one that was killed."""
        for package in self._packages:
            if package not in self._servers:
                self._servers[package] = self._serve(package)

    def kill(self, package: str) -> None:
        """End one at once, whatever it is doing: who waits for an answer gets none."""
        server, _ = self._servers.pop(package, (None, 0))
        if server is not None:
            server.stop(None)

    def stop(self) -> None:
        """End them all."""
        for package in list(self._servers):
            self.kill(package)

    def _serve(self, package: str) -> tuple[grpc.Server, int]:
        server = grpc.server(
            futures.ThreadPoolExecutor(max_workers=64, thread_name_prefix=f"stand-in-{package}"),
            options=[
                ("grpc.max_receive_message_length", _LARGEST_MESSAGE),
                ("grpc.max_send_message_length", _LARGEST_MESSAGE),
                # Two rehearsals at once must not share a port.
                ("grpc.so_reuseport", 0),
            ],
        )
        provider = StandInProvider(package, self._cloud, self._faults, die=lambda: self.kill(package))
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(provider, server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        return server, port
