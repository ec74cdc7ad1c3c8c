"""Check that the listener of each scale set has a session at GitHub."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.kubernetes.arc_links import broken as broken_link
from gpu_ci.stack_file.identity import PROJECT
from ops.doctor.chain.sections import arc as applies
from ops.doctor.finding import broken, works
from ops.doctor.questions import kubernetes
from ops.doctor.questions.scale_sets import names, objects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.kubernetes.arc_links import Objects
    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "listeners"
NEEDS: Final = ("arc-controller", "github-app-secret")

_RELEASE: Final = "gpu-ci:kubernetes:ScaleSet$kubernetes:helm.sh/v3:Release"
"""The qualified type of the release of a scale set."""


def check(world: World) -> Iterator[Verdict]:
    """Yield the first broken link between each scale set and GitHub."""
    found = objects(world)
    for name in names(world.stack):
        release = f"urn:pulumi:{world.stack.identity.stack}::{PROJECT}::{_RELEASE}::runner-{name}"
        problem = broken_link(name, found, log=_log(world, name, found), now=world.now, release=release)
        if problem is None:
            yield works(CHECK, f"runners.{name}", "its listener has a session at GitHub")
        else:
            yield broken(
                CHECK,
                f"runners.{name}",
                seen=problem.problem,
                means="GitHub keeps the jobs for it in the queue, because no listener asks for them",
                fix=problem.fix,
            )


def _log(world: World, name: str, found: Objects) -> str:
    listener = found.listener(name)
    pods = [pod for pod in found.of("Pod") if listener and kubernetes.name(pod) == kubernetes.name(listener)]
    return kubernetes.log(world, pods[0], "listener") if pods else ""
