"""Explain why pods of runners and jobs wait for a node."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from ops.doctor.chain.sections import arc as applies
from ops.doctor.finding import broken, doubtful, works
from ops.doctor.questions import kubernetes
from ops.doctor.questions.scale_sets import job_pods

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "pending-pods"
NEEDS: Final = ("kubernetes-api",)

STARTING: Final = timedelta(minutes=10)
"""The longest usual wait for a new node."""
_SCALING: Final = "TriggeredScaleUp"
_REFUSED: Final = "NotTriggerScaleUp"
_REASONS: Final = (
    (
        "max node group size reached",
        "the pool has its largest number of nodes",
        "wait for a running job, or raise gpu-pools.NAME.max",
    ),
    (
        "in backoff after failed scale-up",
        "EC2 did not start a node, so the autoscaler waits",
        "read the check node-launches",
    ),
    (
        "untolerated taint",
        "the nodes have a taint that the pod does not tolerate",
        "state the taint in gpu-pools.NAME.taints, so that runners tolerate it; compare the check node-marks",
    ),
    (
        "node affinity",
        "no node has the labels that the pod selects",
        "compare the pool of the runner with the check node-marks; a pool from zero needs the check asg-tags",
    ),
    (
        "Insufficient nvidia.com/gpu",
        "every GPU is in use, or the nodes do not offer theirs",
        "read the check allocatable-gpu; if it passes, wait or raise gpu-pools.NAME.max",
    ),
    (
        "Insufficient",
        "the pod requests more CPU, memory or disk than a node has left",
        "lower needs of the runner, or use a larger instance type; `make plan` computes the room",
    ),
)
"""Reasons in messages of the scheduler and the autoscaler, the more exact ones first."""


def check(world: World) -> Iterator[Verdict]:
    """Yield pods that wait, with the reason of the autoscaler and of the scheduler."""
    waiting = [pod for pod in job_pods(world) if pod.get("status", {}).get("phase") == "Pending" and not _placed(pod)]
    if not waiting:
        yield works(CHECK, "runners", "no pod of a runner or a job waits for a node")
    for pod in waiting:
        yield _pod(world, pod)


def _placed(pod: dict[str, Any]) -> bool:
    return bool(pod.get("spec", {}).get("nodeName"))


def _pod(world: World, pod: dict[str, Any]) -> Verdict:
    meta, waits = pod["metadata"], kubernetes.age(world, pod)
    happened = kubernetes.events(world, meta["namespace"], meta["name"])
    scheduler = str(kubernetes.condition(pod, "PodScheduled").get("message", "the scheduler gave no reason"))
    autoscaler = next((str(one["message"]) for one in reversed(happened) if one.get("reason") == _REFUSED), "")
    started = any(one.get("reason") == _SCALING for one in happened)
    seen = f"it waits for {int(waits.total_seconds() // 60)} minutes: {autoscaler or scheduler}"
    subject = f"pod {meta['namespace']}/{meta['name']}"
    if started and waits < STARTING:
        means = "the autoscaler starts a node for it, which takes 3 to 6 minutes"
        return doubtful(CHECK, subject, seen=seen, means=means, fix="wait, and run the doctor again")
    means, fix = _explained(f"{autoscaler} {scheduler}")
    if started:
        means, fix = (
            "the autoscaler asked for a node, and none joined in time",
            "read the checks node-launches and nodes",
        )
    return (doubtful if waits < timedelta(minutes=1) else broken)(CHECK, subject, seen=seen, means=means, fix=fix)


def _explained(message: str) -> tuple[str, str]:
    for text, means, fix in _REASONS:
        if text in message:
            return means, fix
    return "neither the scheduler nor the autoscaler found a node for it", "read the check autoscaler"
