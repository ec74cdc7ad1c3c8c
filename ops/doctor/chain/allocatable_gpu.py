"""Check that every GPU node offers as many GPUs as its machine has, times the jobs that share one."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from gpu_ci.knowledge.kubernetes.quantities import GPU
from ops.doctor.chain.sections import gpu_pools as applies
from ops.doctor.finding import broken, doubtful, works
from ops.doctor.questions import kubernetes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.questions.kubernetes import Item
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "allocatable-gpu"
NEEDS: Final = ("kubernetes-api",)

_REGISTERS: Final = timedelta(minutes=5)
"""The longest usual time from the start of a node until the plugin has registered its GPUs."""


def check(world: World) -> Iterator[Verdict]:
    """Yield nodes that offer too few GPUs."""
    nodes = kubernetes.gpu_nodes(world)
    if not nodes:
        yield works(CHECK, "gpu-pools", "the cluster has no GPU nodes, which is normal without jobs")
    for node in nodes:
        pool = world.settings.gpu_pools.get(kubernetes.pool_of(node))
        kind = kubernetes.labels(node).get("node.kubernetes.io/instance-type", "")
        if pool is None or kind not in pool.instance_types:
            continue
        shares = pool.sharing.replicas if pool.sharing else 1
        yield _node(world, node, world.settings.machines.ec2(kind).devices * shares)


def _node(world: World, node: Item, wanted: int) -> Verdict:
    subject, status = f"node {kubernetes.name(node)}", node.get("status", {})
    offers = int(status.get("allocatable", {}).get(GPU, 0))
    has = int(status.get("capacity", {}).get(GPU, 0))
    seen = f"it offers {offers} of {wanted} {GPU}"
    if offers == wanted:
        return works(CHECK, subject, f"it offers {offers} {GPU}")
    if offers < has:
        return broken(
            CHECK,
            subject,
            seen=f"{seen}, and the plugin knows {has}",
            means="the plugin marked a GPU as unhealthy after an error of the hardware or the driver (Xid)",
            fix=f"`kubectl drain {kubernetes.name(node)} --ignore-daemonsets`, and end the instance",
        )
    if offers == 0 and kubernetes.age(world, node) < _REGISTERS:
        return doubtful(CHECK, subject, seen=seen, means="the node started just now", fix="wait, and run it again")
    if offers == 0:
        return broken(
            CHECK,
            subject,
            seen=seen,
            means="the device plugin has not registered the GPU at the kubelet of the node",
            fix="read the checks device-plugin and device-plugin-log; delete its pod on this node to retry",
        )
    return broken(
        CHECK,
        subject,
        seen=seen,
        means="the machine lost a GPU, or the plugin has another configuration for sharing than the stack file",
        fix="compare the label nvidia.com/device-plugin.config with gpu-pools.NAME.sharing; otherwise end the instance",
    )
