"""Explain known messages in the logs of runner and job pods: the hooks, the driver, CUDA, and refused runners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ops.doctor.chain.sections import arc as applies
from ops.doctor.finding import broken, works
from ops.doctor.log.messages import found_in
from ops.doctor.questions import kubernetes
from ops.doctor.questions.scale_sets import job_pods

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "runner-log"
NEEDS: Final = ("kubernetes-api",)


def check(world: World) -> Iterator[Verdict]:
    """Yield the known messages of every container that has started, and containers that used too much memory."""
    pods, good = job_pods(world), 0
    for pod in pods:
        faults = [*_killed(pod), *_logged(world, pod)]
        good += not faults
        yield from faults
    if good == len(pods):
        yield works(CHECK, "runners", f"the logs of {good} pods of runners and jobs have no known error")


def _killed(pod: dict[str, Any]) -> Iterator[Verdict]:
    for one in kubernetes.containers(pod):
        for state in (one.get("state", {}), one.get("lastState", {})):
            if state.get("terminated", {}).get("reason") == "OOMKilled":
                yield broken(
                    CHECK,
                    _subject(pod),
                    seen=f"the container {one['name']} ended with OOMKilled",
                    means="the job used more memory than its limit; /dev/shm counts as memory",
                    fix="raise needs.memory of the runner, or run fewer tests in parallel",
                )


def _logged(world: World, pod: dict[str, Any]) -> Iterator[Verdict]:
    for one in kubernetes.containers(pod):
        if one.get("state", {}).get("waiting"):
            continue
        for found in found_in(kubernetes.log(world, pod, one["name"])):
            yield broken(
                CHECK,
                _subject(pod),
                seen=found.line,
                means=found.message.meaning,
                fix=f"{found.message.fix} (docs/runbook.md#{found.message.name})",
            )


def _subject(pod: dict[str, Any]) -> str:
    node = pod.get("spec", {}).get("nodeName")
    return f"pod {pod['metadata']['namespace']}/{kubernetes.name(pod)}{f' on {node}' if node else ''}"
