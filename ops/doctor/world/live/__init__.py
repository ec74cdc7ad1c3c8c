"""The live systems. Each is connected at its first question, because the clients are slow to import."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpu_ci.back_ends.stack import Stack
from ops.doctor.world.source import Source, Unanswered


class Lazy:
    """A system that is connected at its first question."""

    def __init__(self, connect: Callable[[], Source]) -> None:
        self._connect = connect
        self._source: Source | None = None

    def ask(self, call: str, /, **arguments: Any) -> Any:
        """Return the answer of the system."""
        if self._source is None:
            try:
                self._source = self._connect()
            except ImportError as fault:
                reason = f"the Python package {fault.name} is not installed"
                raise Unanswered(reason, "run `make doctor`, which installs requirements/doctor.txt") from None
        return self._source.ask(call, **arguments)


def systems(stack: Stack) -> dict[str, Source]:
    """Return the live system of each field of a world."""
    region = stack.settings.aws.region if stack.settings.aws is not None else "us-east-1"
    url = stack.settings.github.url if stack.settings.github is not None else "https://github.com"
    cloud = Lazy(lambda: _aws(region))
    return {
        "aws": cloud,
        "cluster": Lazy(lambda: _cluster(cloud, stack.cluster_name, region)),
        "github": Lazy(lambda: _github(url)),
        "google": Lazy(_google),
        "registry": Lazy(_registry),
        "jarvis": Lazy(_jarvis),
    }


def _aws(region: str) -> Source:
    from ops.doctor.world.live.aws import LiveAws

    return LiveAws(region)


def _cluster(cloud: Source, name: str, region: str) -> Source:
    from ops.doctor.world.live.cluster import LiveCluster, of_eks

    return of_eks(cloud, name=name, region=region, kind=LiveCluster)


def _github(url: str) -> Source:
    from ops.doctor.world.live.github import LiveGitHub, api_of, token

    return LiveGitHub(api_of(url), token())


def _google() -> Source:
    from ops.doctor.world.live.google_cloud import LiveGoogleCloud

    return LiveGoogleCloud()


def _registry() -> Source:
    from ops.doctor.world.live.registry import LiveRegistry

    return LiveRegistry()


def _jarvis() -> Source:
    from ops.doctor.world.live.jarvis import LiveJarvis

    return LiveJarvis()
