"""Check that GPU nodes have the labels and taints of their pool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from components.aws.gpu_node import node_labels, node_taints
from ops.doctor import kubernetes
from ops.doctor.sections import gpu_pools as applies
from ops.doctor.verdict import broken, works
from wiring.kubernetes import gpu_node

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from components.aws.gpu_node import GpuNode
    from gpu.verdict import Verdict
    from ops.doctor.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "node-marks"
NEEDS: Final = ("kubernetes-api",)

_TYPE: Final = "node.kubernetes.io/instance-type"


def check(world: World) -> Iterator[Verdict]:
    """Yield nodes whose labels or taints differ, and GPU nodes that belong to no pool."""
    settings = world.settings
    pools = {name: gpu_node(name, pool, settings.machines) for name, pool in settings.gpu_pools.items()}
    types = {one: name for name, pool in settings.gpu_pools.items() for one in pool.instance_types}
    good = 0
    for node in kubernetes.nodes(world):
        pool, kind = kubernetes.pool_of(node), kubernetes.labels(node).get(_TYPE, "")
        if pool in pools:
            faults = list(_faults(node, pools[pool]))
            good += not faults
            yield from faults
        elif kind in types:
            yield broken(
                CHECK,
                f"node {kubernetes.name(node)}",
                seen=f"it is a {kind} without the label gpu-ci/pool of a pool",
                means="neither runners nor the device plugin select this node",
                fix=f"if it belongs to {types[kind]}, end the instance: a new node gets the labels",
            )
    if good or not kubernetes.gpu_nodes(world):
        yield works(CHECK, "gpu-pools", f"{good} GPU nodes have the labels and taints of their pool")


def _faults(node: dict[str, Any], wanted: GpuNode) -> Iterator[Verdict]:
    subject, path = f"node {kubernetes.name(node)}", f"gpu-pools.{wanted.pool}"
    labels = _different(kubernetes.labels(node), node_labels(wanted))
    if labels:
        yield broken(
            CHECK,
            subject,
            seen=f"the label {', and '.join(labels)}",
            means=f"{path} has it: without it the device plugin or runners do not select the node",
            fix=f"`kubectl label node {kubernetes.name(node)} --overwrite KEY=VALUE`, and `pulumi up --refresh`",
        )
    found = {
        one["key"]: f"{one.get('value', '')}:{one['effect']}"
        for one in node.get("spec", {}).get("taints") or []
        if not one["key"].startswith(("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/"))
    }
    taints = _different(found, node_taints(wanted))
    extra = [f"{key}={value}" for key, value in found.items() if key not in node_taints(wanted)]
    if taints:
        yield broken(
            CHECK,
            subject,
            seen=f"the taint {', and '.join(taints)}",
            means=f"{path} has it: without it pods that need no GPU start on the node and see every GPU",
            fix="run `pulumi up --refresh`, which sets the taints of the node group",
        )
    if extra:
        yield broken(
            CHECK,
            subject,
            seen=f"it has the taint {', '.join(extra)}, which the stack file does not state",
            means="runners and the device plugin do not tolerate it, so they do not start on the node",
            fix=f"state it in {path}.taints, or remove it: `kubectl taint node {kubernetes.name(node)} KEY-`",
        )


def _different(found: Mapping[str, str], wanted: Mapping[str, str]) -> list[str]:
    return [
        f"{key} is {found[key]} instead of {value}" if key in found else f"{key}={value} is missing"
        for key, value in wanted.items()
        if found.get(key) != value
    ]
