"""Check that NVIDIA's device plugin runs on every GPU node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gpu_ci.knowledge.kubernetes.node_group import GPU_PRESENT
from ops.doctor.finding import broken, works
from ops.doctor.questions import kubernetes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from gpu_ci.stack_file.sections.settings import Settings
    from ops.doctor.world.world import World

CHECK: Final = "device-plugin"
NEEDS: Final = ("kubernetes-api",)

SELECTOR: Final = "app.kubernetes.io/name=nvidia-device-plugin"
_SHARING: Final = "mps-control-daemon"
"""Part of the name of a DaemonSet of the same chart that runs on no node of gpu-ci."""
_LOOK: Final = f"kubectl --namespace kube-system describe pods --selector {SELECTOR}"


def applies(settings: Settings) -> bool:
    """Return whether the stack installs the plugin."""
    return settings.device_plugin is not None


def plugin_pods(world: World) -> list[dict[str, Any]]:
    """Return the pods of the plugin."""
    found = kubernetes.pods(world, kubernetes.SYSTEM, SELECTOR)
    return [pod for pod in found if _SHARING not in kubernetes.name(pod)]


def check(world: World) -> Iterator[Verdict]:
    """Yield a plugin that is missing, that selects no node, or whose pods do not run."""
    sets = kubernetes.items(world, f"/apis/apps/v1/namespaces/{kubernetes.SYSTEM}/daemonsets", labelSelector=SELECTOR)
    sets = [one for one in sets if _SHARING not in kubernetes.name(one)]
    if not sets:
        yield broken(
            CHECK,
            "device-plugin",
            seen="kube-system has no DaemonSet of the device plugin",
            means="no node offers nvidia.com/gpu, so every GPU job waits",
            fix="run `pulumi up`; if the release exists but has no objects, `pulumi up --refresh`",
        )
        return
    status, nodes = sets[0].get("status", {}), kubernetes.gpu_nodes(world)
    wanted, ready = int(status.get("desiredNumberScheduled", 0)), int(status.get("numberReady", 0))
    if not nodes:
        yield works(CHECK, "device-plugin", "0/0 ready: the cluster has no GPU nodes, which is normal without jobs")
    elif wanted < len(nodes):
        yield _not_selected(sets[0], wanted, nodes)
    elif ready < wanted:
        yield _not_ready(world, ready, wanted)
    else:
        yield works(CHECK, "device-plugin", f"{ready}/{wanted} ready")


def _not_selected(daemonset: dict[str, Any], wanted: int, nodes: list[dict[str, Any]]) -> Verdict:
    without = [kubernetes.name(node) for node in nodes if kubernetes.labels(node).get(GPU_PRESENT) != "true"]
    if without:
        return broken(
            CHECK,
            "device-plugin",
            seen=f"{kubernetes.name(daemonset)} selects {wanted} of {len(nodes)} GPU nodes",
            means=f"{', '.join(without)} has no label {GPU_PRESENT}=true",
            fix=f"`kubectl label node {without[0]} {GPU_PRESENT}=true`, and `pulumi up` for new nodes",
        )
    return broken(
        CHECK,
        "device-plugin",
        seen=f"{kubernetes.name(daemonset)} selects {wanted} of {len(nodes)} GPU nodes",
        means="the nodes have the label, so a taint keeps the plugin away",
        fix="compare `kubectl describe node` with gpu-pools.NAME.taints: the plugin tolerates only stated taints",
    )


def _not_ready(world: World, ready: int, wanted: int) -> Verdict:
    waits = next((state for pod in plugin_pods(world) if (state := kubernetes.waiting(pod))), {})
    reason = f", {waits.get('reason', '')}: {waits.get('message', 'no message')}" if waits else ""
    crashes = waits.get("reason") == "CrashLoopBackOff"
    return broken(
        CHECK,
        "device-plugin",
        seen=f"{ready}/{wanted} ready{reason}",
        means="nodes without a ready plugin offer no GPU",
        fix="read the check device-plugin-log" if crashes else f"read the events in `{_LOOK}`; delete the pod to retry",
    )
