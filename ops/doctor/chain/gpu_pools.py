"""The GPUs that nodes offer to pods, and the autoscaler that adds nodes to a pool."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import yaml

from components.gpu_names import GPU, GPU_PRESENT
from components.kubernetes.autoscaler_values import NAMESPACE
from components.kubernetes.autoscaler_values import SERVICE_ACCOUNT as AUTOSCALER
from gpu_ci.derived.kubernetes import node_groups
from ops.doctor.chain import sections
from ops.doctor.check import Chapter
from ops.doctor.finding import Finding, broken, doubtful, works
from ops.doctor.log.reasons import reasons_in
from ops.doctor.questions import kubernetes
from ops.doctor.questions import node_groups as eks
from ops.doctor.questions.kubernetes import Item
from ops.doctor.world.world import World

CHAPTER: Final = Chapter()

_PLUGIN: Final = "app.kubernetes.io/name=nvidia-device-plugin"
_SHARING: Final = "mps-control-daemon"
"""Part of the name of a DaemonSet of the same chart that runs on no node of gpu-ci."""
_LOOK_AT_PLUGIN: Final = f"kubectl --namespace kube-system describe pods --selector {_PLUGIN}"


def _plugin_pods(world: World) -> list[dict[str, Any]]:
    """Return the pods of the plugin."""
    found = kubernetes.pods(world, kubernetes.SYSTEM, _PLUGIN)
    return [pod for pod in found if _SHARING not in kubernetes.name(pod)]


@CHAPTER.check(needs=("kubernetes-api",), applies=sections.device_plugin)
def device_plugin(world: World) -> Iterator[Finding]:
    """Check that NVIDIA's device plugin runs on every GPU node."""
    sets = kubernetes.items(world, f"/apis/apps/v1/namespaces/{kubernetes.SYSTEM}/daemonsets", labelSelector=_PLUGIN)
    sets = [one for one in sets if _SHARING not in kubernetes.name(one)]
    if not sets:
        yield broken(
            "device-plugin",
            seen="kube-system has no DaemonSet of the device plugin",
            means="no node offers nvidia.com/gpu, so every GPU job waits",
            fix="run `pulumi up`; if the release exists but has no objects, `pulumi up --refresh`",
        )
        return
    status, nodes = sets[0].get("status", {}), kubernetes.gpu_nodes(world)
    wanted, ready = int(status.get("desiredNumberScheduled", 0)), int(status.get("numberReady", 0))
    if not nodes:
        yield works("device-plugin", "0/0 ready: the cluster has no GPU nodes, which is normal without jobs")
    elif wanted < len(nodes):
        yield _not_selected(sets[0], wanted, nodes)
    elif ready < wanted:
        yield _not_ready(world, ready, wanted)
    else:
        yield works("device-plugin", f"{ready}/{wanted} ready")


def _not_selected(daemonset: dict[str, Any], wanted: int, nodes: list[dict[str, Any]]) -> Finding:
    without = [kubernetes.name(node) for node in nodes if kubernetes.labels(node).get(GPU_PRESENT) != "true"]
    if without:
        return broken(
            "device-plugin",
            seen=f"{kubernetes.name(daemonset)} selects {wanted} of {len(nodes)} GPU nodes",
            means=f"{', '.join(without)} has no label {GPU_PRESENT}=true",
            fix=f"`kubectl label node {without[0]} {GPU_PRESENT}=true`, and `pulumi up` for new nodes",
        )
    return broken(
        "device-plugin",
        seen=f"{kubernetes.name(daemonset)} selects {wanted} of {len(nodes)} GPU nodes",
        means="the nodes have the label, so a taint keeps the plugin away",
        fix="compare `kubectl describe node` with gpu-pools.NAME.taints: the plugin tolerates only stated taints",
    )


def _not_ready(world: World, ready: int, wanted: int) -> Finding:
    waits = next((state for pod in _plugin_pods(world) if (state := kubernetes.waiting(pod))), {})
    reason = f", {waits.get('reason', '')}: {waits.get('message', 'no message')}" if waits else ""
    crashes = waits.get("reason") == "CrashLoopBackOff"
    return broken(
        "device-plugin",
        seen=f"{ready}/{wanted} ready{reason}",
        means="nodes without a ready plugin offer no GPU",
        fix="read the check device-plugin-log"
        if crashes
        else f"read the events in `{_LOOK_AT_PLUGIN}`; delete the pod to retry",
    )


_CONTAINER: Final = "nvidia-device-plugin-ctr"


@CHAPTER.check(needs=("kubernetes-api",), applies=sections.device_plugin)
def device_plugin_log(world: World) -> Iterator[Finding]:
    """Explain what the log of NVIDIA's device plugin says about a node."""
    pods = _plugin_pods(world)
    good = 0
    for pod in pods:
        log = kubernetes.log(world, pod, _CONTAINER)
        found = next(reasons_in("device-plugin-log", log.splitlines()), None)
        if found is None:
            good += 1
            continue
        reason, lines = found
        node = pod.get("spec", {}).get("nodeName", "no node")
        yield broken(
            f"pod {kubernetes.name(pod)} on {node}", seen=lines[0].strip()[:300], means=reason.meaning, fix=reason.fix
        )
    if good == len(pods):
        yield works("device-plugin", f"the logs of its {good} pods have no known error")


_REGISTERS: Final = timedelta(minutes=5)
"""The longest usual time from the start of a node until the plugin has registered its GPUs."""


@CHAPTER.check(needs=("kubernetes-api",), applies=sections.gpu_pools)
def allocatable_gpu(world: World) -> Iterator[Finding]:
    """Check that every GPU node offers as many GPUs as its machine has, times the jobs that share one."""
    nodes = kubernetes.gpu_nodes(world)
    if not nodes:
        yield works("gpu-pools", "the cluster has no GPU nodes, which is normal without jobs")
    for node in nodes:
        pool = world.settings.gpu_pools.get(kubernetes.pool_of(node))
        kind = kubernetes.labels(node).get("node.kubernetes.io/instance-type", "")
        if pool is None or kind not in pool.instance_types:
            continue
        shares = pool.sharing.replicas if pool.sharing else 1
        yield _node(world, node, world.settings.machines.ec2(kind).devices * shares)


def _node(world: World, node: Item, wanted: int) -> Finding:
    subject, status = f"node {kubernetes.name(node)}", node.get("status", {})
    offers = int(status.get("allocatable", {}).get(GPU, 0))
    has = int(status.get("capacity", {}).get(GPU, 0))
    seen = f"it offers {offers} of {wanted} {GPU}"
    if offers == wanted:
        return works(subject, f"it offers {offers} {GPU}")
    if offers < has:
        return broken(
            subject,
            seen=f"{seen}, and the plugin knows {has}",
            means="the plugin marked a GPU as unhealthy after an error of the hardware or the driver (Xid)",
            fix=f"`kubectl drain {kubernetes.name(node)} --ignore-daemonsets`, and end the instance",
        )
    if offers == 0 and kubernetes.age(world, node) < _REGISTERS:
        return doubtful(subject, seen=seen, means="the node started just now", fix="wait, and run it again")
    if offers == 0:
        return broken(
            subject,
            seen=seen,
            means="the device plugin has not registered the GPU at the kubelet of the node",
            fix="read the checks device-plugin and device-plugin-log; delete its pod on this node to retry",
        )
    return broken(
        subject,
        seen=seen,
        means="the machine lost a GPU, or the plugin has another configuration for sharing than the stack file",
        fix="compare the label nvidia.com/device-plugin.config with gpu-pools.NAME.sharing; otherwise end the instance",
    )


STATUS: Final = f"{AUTOSCALER}-status"
UPDATED: Final = "cluster-autoscaler.kubernetes.io/last-updated"
_STALE: Final = timedelta(minutes=5)
"""The autoscaler writes its status every ten seconds."""
_LOOK_AT_AUTOSCALER: Final = f"kubectl --namespace {NAMESPACE} logs deployment/{AUTOSCALER} --tail 100"


@CHAPTER.check(needs=("kubernetes-api",), applies=sections.autoscaler)
def autoscaler(world: World) -> Iterator[Finding]:
    """Check that the Cluster Autoscaler runs, sees every pool, and did not stop to scale one up."""
    path = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{AUTOSCALER}"
    deployment = world.cluster.ask(path)
    if deployment is None:
        yield broken(
            "autoscaler",
            seen=f"{NAMESPACE} has no deployment {AUTOSCALER}",
            means="no pool gets a node from zero",
            fix="run `pulumi up --refresh`",
        )
        return
    pods = kubernetes.pods(world, NAMESPACE, "app.kubernetes.io/name=aws-cluster-autoscaler")
    log = "\n".join(kubernetes.log(world, pod, "aws-cluster-autoscaler") for pod in pods)
    faults = [*_stopped(deployment, pods), *_logged(log), *_status(world)]
    yield from faults
    if not faults:
        yield works("autoscaler", "it runs, sees every pool, and none is in backoff")


def _stopped(deployment: dict[str, Any], pods: list[dict[str, Any]]) -> Iterator[Finding]:
    if deployment.get("spec", {}).get("replicas") == 0:
        yield broken(
            "autoscaler",
            seen=f"the deployment {AUTOSCALER} has 0 replicas",
            means="a person stopped it, and no pool gets a node",
            fix=f"`kubectl --namespace {NAMESPACE} scale deployment/{AUTOSCALER} --replicas 1`",
        )
    elif not deployment.get("status", {}).get("readyReplicas"):
        yield broken(
            "autoscaler",
            seen=f"no pod of {AUTOSCALER} is ready{kubernetes.why_waiting(pods)}",
            means="no pool gets a node while it does not run",
            fix=f"read `{_LOOK_AT_AUTOSCALER}`; it runs on the system nodes",
        )


def _logged(log: str) -> Iterator[Finding]:
    for one, lines in reasons_in("autoscaler", log.splitlines()):
        yield broken("autoscaler", seen=f"its log: {lines[-1].strip()[:300]}", means=one.meaning, fix=one.fix)


def _status(world: World) -> Iterator[Finding]:
    found = world.cluster.ask(f"/api/v1/namespaces/{NAMESPACE}/configmaps/{STATUS}")
    if found is None:
        yield doubtful(
            "autoscaler",
            seen=f"there is no ConfigMap {STATUS}",
            means="it has not finished its first pass, which takes less than a minute",
            fix=f"read `{_LOOK_AT_AUTOSCALER}`",
        )
        return
    written = _time(found["metadata"].get("annotations", {}).get(UPDATED, ""))
    if written is not None and world.now - written > _STALE:
        yield broken(
            "autoscaler",
            seen=f"it wrote its status last at {written:%Y-%m-%d %H:%M} UTC",
            means="it hangs or has no lease: it writes the status every ten seconds",
            fix=f"`kubectl --namespace {NAMESPACE} rollout restart deployment/{AUTOSCALER}`",
        )
    yield from _pools(world, _parsed(found.get("data", {}).get("status", "")))


def _pools(world: World, status: dict[str, Any]) -> Iterator[Finding]:
    seen = {str(one.get("name")): one for one in status.get("nodeGroups") or []}
    groups = eks.actual(world)
    for wanted in node_groups(world.stack):
        for name in (one for group in eks.of(wanted, groups) for one in eks.auto_scaling_groups(group)):
            if name not in seen:
                yield broken(
                    wanted.path,
                    seen=f"its status does not list {name}",
                    means="the autoscaler does not know the pool, so it stays empty",
                    fix="read the check asg-tags; the name of the cluster in the tags and in the autoscaler must agree",
                )
                continue
            scaling = seen[name].get("scaleUp") or {}
            if scaling.get("status") == "Backoff":
                info = scaling.get("backoffInfo") or {}
                yield broken(
                    wanted.path,
                    seen=f"{name} is in backoff: {info.get('errorCode', '')}: {info.get('errorMessage', '')}",
                    means="a node did not start, so the autoscaler does not try this pool for 5 to 30 minutes",
                    fix="read the check node-launches for the reason of EC2; a fallback pool is tried in the meantime",
                )


def _parsed(text: str) -> dict[str, Any]:
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        return {}
    return found if isinstance(found, dict) else {}


def _time(text: str) -> datetime | None:
    """Parse the time as Go prints it: `2026-11-20 11:59:50.1 +0000 UTC`."""
    try:
        return datetime.strptime(text[:19], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return None
