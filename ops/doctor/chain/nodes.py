"""Check that the nodes of the cluster are ready, and that the pods of the system have some."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from ops.doctor.chain.sections import cluster as applies
from ops.doctor.finding import broken, doubtful, works
from ops.doctor.questions import kubernetes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "nodes"
NEEDS: Final = ("kubernetes-api",)

STARTING: Final = timedelta(minutes=10)
"""The longest usual start of a node."""
_PRESSURE: Final = {
    "DiskPressure": ("the disk of the node is nearly full, and pods are evicted", "raise disk.size of the pool"),
    "MemoryPressure": ("the memory of the node is nearly used up, and pods are evicted", "raise needs.memory"),
    "PIDPressure": ("the node has too many processes", "look for a job that starts processes without end"),
    "NetworkUnavailable": ("the network of the node is not set up", "read the log of the pod aws-node on it"),
}


def check(world: World) -> Iterator[Verdict]:
    """Yield nodes that are not ready, and a cluster without system nodes."""
    nodes = kubernetes.nodes(world)
    faults = [fault for node in nodes for fault in _faults(world, node)]
    system = any(kubernetes.labels(node).get("role") == "system" for node in nodes)
    if world.settings.system_nodes is not None and not system:
        yield broken(
            CHECK,
            "system-nodes",
            seen=f"none of the {len(nodes)} nodes is a system node",
            means="DNS, the autoscaler and the controllers of runners have no node to run on",
            fix="read the checks node-groups and node-launches, and raise system-nodes.min if it was lowered",
        )
    yield from faults
    if not faults:
        gpus = len(kubernetes.gpu_nodes(world))
        yield works(
            CHECK, "cluster", f"{len(nodes)} nodes are ready, {gpus} of them with GPUs; 0 is normal without jobs"
        )


def _faults(world: World, node: dict[str, Any]) -> Iterator[Verdict]:
    name, ready = kubernetes.name(node), kubernetes.condition(node, "Ready")
    subject = f"node {name}"
    if ready.get("status") != "True":
        seen = f"it is not ready: {ready.get('reason', 'no status')}: {ready.get('message', 'none')}"
        if kubernetes.age(world, node) < STARTING:
            yield doubtful(CHECK, subject, seen=seen, means="it started just now", fix="wait, and run the doctor again")
        elif ready.get("status") == "Unknown":
            yield broken(
                CHECK,
                subject,
                seen=seen,
                means="its kubelet does not report: the machine has stopped, hangs, or lost its network",
                fix="end its instance in EC2; the pool gets another node if a pod waits",
            )
        else:
            yield broken(
                CHECK,
                subject,
                seen=seen,
                means="no pod starts on it",
                fix="if the message names the network plugin, restart its pod aws-node; otherwise end the instance",
            )
    for kind, (means, fix) in _PRESSURE.items():
        if kubernetes.condition(node, kind).get("status") == "True":
            yield doubtful(CHECK, subject, seen=f"it reports {kind}", means=means, fix=fix)
    if node.get("spec", {}).get("unschedulable"):
        yield doubtful(
            CHECK,
            subject,
            seen="it is cordoned",
            means="no new pod starts on it: it is drained by EKS or the autoscaler, or a person cordoned it",
            fix=f"if no update runs: `kubectl uncordon {name}`",
        )
