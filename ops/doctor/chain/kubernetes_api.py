"""Check that the API of Kubernetes answers to the identity of the credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.doctor.chain.sections import cluster as applies
from ops.doctor.finding import broken, doubtful, works

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "kubernetes-api"
NEEDS: Final = ("eks-cluster",)


def check(world: World) -> Iterator[Verdict]:
    """Yield the version of the API, and whether it lists nodes."""
    name = world.stack.cluster_name
    version = world.cluster.ask("/version")
    if version is None:
        yield broken(
            CHECK,
            name,
            seen="the address of the cluster answers, but has no API of Kubernetes",
            means="a proxy answers in place of the cluster",
            fix="run it from a network without the proxy, or set NO_PROXY",
        )
        return
    world.cluster.ask("/api/v1/nodes")
    stated = world.settings.cluster
    minor = f"{version['major']}.{str(version['minor']).rstrip('+')}"
    if stated is not None and minor != stated.version:
        yield doubtful(
            CHECK,
            "cluster.version",
            seen=f"the API has version {minor}, and the stack file states {stated.version}",
            means="the autoscaler and the nodes are of the version of the stack file",
            fix="run `pulumi up`",
        )
        return
    yield works(CHECK, name, f"the API answers with {version['gitVersion']}")
