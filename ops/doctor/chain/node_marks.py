"""Check that nodes have the labels and taints of their pool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from components.aws.nodes.taints import EFFECTS
from gpu_ci.derived.kubernetes import node_groups
from gpu_ci.knowledge.kubernetes.taints import EFFECTS
from ops.doctor.chain.sections import cluster as applies
from ops.doctor.finding import broken, works
from ops.doctor.questions import kubernetes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpu_ci.knowledge.kubernetes.node_group import NodeGroupFacts
    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "node-marks"
NEEDS: Final = ("kubernetes-api",)

_TYPE: Final = "node.kubernetes.io/instance-type"
_OF_KUBERNETES: Final = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
)
"""The starts of taints that Kubernetes and the autoscaler set for some time."""


def check(world: World) -> Iterator[Verdict]:
    """Yield nodes whose labels or taints differ, and nodes of a pool's type that belong to no pool."""
    pools = {group.name: group for group in node_groups(world.stack)}
    types = {kind: group.name for group in pools.values() for kind in group.instance_types}
    faults: list[Verdict] = []
    good = 0
    for node in kubernetes.nodes(world):
        pool, labels = kubernetes.pool_of(node), kubernetes.labels(node)
        if pool in pools:
            found = list(_faults(node, pools[pool]))
            good += not found
            faults += found
        elif labels.get(_TYPE) in types and labels.get("role") != "system":
            faults.append(_without_pool(node, types[labels[_TYPE]]))
    yield from faults
    if not faults:
        yield works(CHECK, "cluster", f"{good} nodes have the labels and taints of their pool")


def _without_pool(node: dict[str, Any], pool: str) -> Verdict:
    return broken(
        CHECK,
        f"node {kubernetes.name(node)}",
        seen=f"it is a {kubernetes.labels(node)[_TYPE]} without the label gpu-ci/pool of a pool",
        means="neither runners nor the device plugin select this node",
        fix=f"if it belongs to {pool}, end the instance: a new node gets the labels",
    )


def _faults(node: dict[str, Any], wanted: NodeGroupFacts) -> Iterator[Verdict]:
    subject, path = f"node {kubernetes.name(node)}", wanted.path
    labels = _different(kubernetes.labels(node), wanted.labels)
    if labels:
        yield broken(
            CHECK,
            subject,
            seen=f"the label {', and '.join(labels)}",
            means=f"{path} has it: without it runners or the device plugin do not select the node",
            fix=f"`kubectl label node {kubernetes.name(node)} --overwrite KEY=VALUE`, and `pulumi up --refresh`",
        )
    stated = {one.key: f"{one.value}:{EFFECTS[one.effect]}" for one in wanted.taints}
    found = {
        one["key"]: f"{one.get('value', '')}:{one['effect']}"
        for one in node.get("spec", {}).get("taints") or []
        if not one["key"].startswith(_OF_KUBERNETES)
    }
    taints = _different(found, stated)
    extra = [f"{key}={value}" for key, value in found.items() if key not in stated]
    if taints:
        yield broken(
            CHECK,
            subject,
            seen=f"the taint {', and '.join(taints)}",
            means=f"{path} has it: without it other pods start on the node, and see every GPU that it has",
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
