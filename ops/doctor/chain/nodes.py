"""The API of Kubernetes, and the nodes with their labels and taints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, Final

from components.aws.nodes.taints import EFFECTS
from gpu_ci.derived.kubernetes import node_groups
from gpu_ci.knowledge.kubernetes.node_group import NodeGroupFacts
from ops.doctor.chain import sections
from ops.doctor.check import Chapter
from ops.doctor.finding import Finding, broken, doubtful, works
from ops.doctor.questions import kubernetes
from ops.doctor.world.world import World

CHAPTER: Final = Chapter()


@CHAPTER.check(needs=("eks-cluster",), applies=sections.cluster)
def kubernetes_api(world: World) -> Iterator[Finding]:
    """Check that the API of Kubernetes answers to the identity of the credentials."""
    name = world.stack.cluster_name
    version = world.cluster.ask("/version")
    if version is None:
        yield broken(
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
            "cluster.version",
            seen=f"the API has version {minor}, and the stack file states {stated.version}",
            means="the autoscaler and the nodes are of the version of the stack file",
            fix="run `pulumi up`",
        )
        return
    yield works(name, f"the API answers with {version['gitVersion']}")


_STARTING: Final = timedelta(minutes=10)
"""The longest usual start of a node."""
_PRESSURE: Final = {
    "DiskPressure": ("the disk of the node is nearly full, and pods are evicted", "raise disk.size of the pool"),
    "MemoryPressure": ("the memory of the node is nearly used up, and pods are evicted", "raise needs.memory"),
    "PIDPressure": ("the node has too many processes", "look for a job that starts processes without end"),
    "NetworkUnavailable": ("the network of the node is not set up", "read the log of the pod aws-node on it"),
}


@CHAPTER.check(needs=("kubernetes-api",), applies=sections.cluster)
def nodes(world: World) -> Iterator[Finding]:
    """Check that the nodes of the cluster are ready, and that the pods of the system have some."""
    nodes = kubernetes.nodes(world)
    faults = [fault for node in nodes for fault in _node_faults(world, node)]
    system = any(kubernetes.labels(node).get("role") == "system" for node in nodes)
    if world.settings.system_nodes is not None and not system:
        yield broken(
            "system-nodes",
            seen=f"none of the {len(nodes)} nodes is a system node",
            means="DNS, the autoscaler and the controllers of runners have no node to run on",
            fix="read the checks node-groups and node-launches, and raise system-nodes.min if it was lowered",
        )
    yield from faults
    if not faults:
        gpus = len(kubernetes.gpu_nodes(world))
        yield works("cluster", f"{len(nodes)} nodes are ready, {gpus} of them with GPUs; 0 is normal without jobs")


def _node_faults(world: World, node: dict[str, Any]) -> Iterator[Finding]:
    name, ready = kubernetes.name(node), kubernetes.condition(node, "Ready")
    subject = f"node {name}"
    if ready.get("status") != "True":
        seen = f"it is not ready: {ready.get('reason', 'no status')}: {ready.get('message', 'none')}"
        if kubernetes.age(world, node) < _STARTING:
            yield doubtful(subject, seen=seen, means="it started just now", fix="wait, and run the doctor again")
        elif ready.get("status") == "Unknown":
            yield broken(
                subject,
                seen=seen,
                means="its kubelet does not report: the machine has stopped, hangs, or lost its network",
                fix="end its instance in EC2; the pool gets another node if a pod waits",
            )
        else:
            yield broken(
                subject,
                seen=seen,
                means="no pod starts on it",
                fix="if the message names the network plugin, restart its pod aws-node; otherwise end the instance",
            )
    for kind, (means, fix) in _PRESSURE.items():
        if kubernetes.condition(node, kind).get("status") == "True":
            yield doubtful(subject, seen=f"it reports {kind}", means=means, fix=fix)
    if node.get("spec", {}).get("unschedulable"):
        yield doubtful(
            subject,
            seen="it is cordoned",
            means="no new pod starts on it: it is drained by EKS or the autoscaler, or a person cordoned it",
            fix=f"if no update runs: `kubectl uncordon {name}`",
        )


_TYPE: Final = "node.kubernetes.io/instance-type"
_OF_KUBERNETES: Final = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
)
"""The starts of taints that Kubernetes and the autoscaler set for some time."""


@CHAPTER.check(needs=("kubernetes-api",), applies=sections.cluster)
def node_marks(world: World) -> Iterator[Finding]:
    """Check that nodes have the labels and taints of their pool."""
    pools = {group.name: group for group in node_groups(world.stack)}
    types = {kind: group.name for group in pools.values() for kind in group.instance_types}
    faults: list[Finding] = []
    good = 0
    for node in kubernetes.nodes(world):
        pool, labels = kubernetes.pool_of(node), kubernetes.labels(node)
        if pool in pools:
            found = list(_mark_faults(node, pools[pool]))
            good += not found
            faults += found
        elif labels.get(_TYPE) in types and labels.get("role") != "system":
            faults.append(_without_pool(node, types[labels[_TYPE]]))
    yield from faults
    if not faults:
        yield works("cluster", f"{good} nodes have the labels and taints of their pool")


def _without_pool(node: dict[str, Any], pool: str) -> Finding:
    return broken(
        f"node {kubernetes.name(node)}",
        seen=f"it is a {kubernetes.labels(node)[_TYPE]} without the label gpu-ci/pool of a pool",
        means="neither runners nor the device plugin select this node",
        fix=f"if it belongs to {pool}, end the instance: a new node gets the labels",
    )


def _mark_faults(node: dict[str, Any], wanted: NodeGroupFacts) -> Iterator[Finding]:
    subject, path = f"node {kubernetes.name(node)}", wanted.path
    labels = _different(kubernetes.labels(node), wanted.labels)
    if labels:
        yield broken(
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
            subject,
            seen=f"the taint {', and '.join(taints)}",
            means=f"{path} has it: without it other pods start on the node, and see every GPU that it has",
            fix="run `pulumi up --refresh`, which sets the taints of the node group",
        )
    if extra:
        yield broken(
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
