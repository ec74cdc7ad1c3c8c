"""Explain what the log of NVIDIA's device plugin says about a node."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ops.doctor.chain.device_plugin import applies, plugin_pods
from ops.doctor.finding import broken, works
from ops.doctor.questions import kubernetes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "device-plugin-log"
NEEDS: Final = ("kubernetes-api",)

_CONTAINER: Final = "nvidia-device-plugin-ctr"
_MESSAGES: Final = (
    (
        re.compile(r"/var/lib/kubelet/device-plugins.*(permission denied|no such file|read-only)", re.IGNORECASE),
        "the plugin has no access to /var/lib/kubelet/device-plugins, where it registers at the kubelet",
        "its DaemonSet needs this host path: remove the policy that forbids it, and run `pulumi up --refresh`",
    ),
    (
        re.compile(r"Driver/library version mismatch", re.IGNORECASE),
        "the driver was updated while the node runs, so its module and its library differ",
        "end the instance: a new node has one driver",
    ),
    (
        re.compile(r"NVML.*(insufficient permissions|unknown error)", re.IGNORECASE),
        "the plugin may not open /dev/nvidia*, which happens after a reload of systemd on the node",
        "delete the pod of the plugin; if it returns, end the instance",
    ),
    (
        re.compile(r"(failed|unable) to initialize NVML|could not load NVML|Incompatible strategy", re.IGNORECASE),
        "the node has no working NVIDIA driver or container runtime, for example because its image has none",
        "state image: stock for the pool, or an own image that passed its tests, and end the instance",
    ),
    (
        re.compile(r"XidCriticalError|marking device as unhealthy", re.IGNORECASE),
        "the GPU reported an error (Xid), and the plugin no longer offers it",
        "drain the node and end the instance; 48, 79, 94 and 95 are faults of the hardware",
    ),
    (
        re.compile(r"No devices found", re.IGNORECASE),
        "the plugin runs and finds no GPU: the driver was not ready at its start, or the machine has no GPU",
        "delete the pod of the plugin; if it returns, end the instance",
    ),
    (
        re.compile(r"could not register device plugin|connect.*kubelet\.sock", re.IGNORECASE),
        "the plugin cannot talk to the kubelet of the node",
        "delete the pod of the plugin; if it returns, end the instance",
    ),
)
"""Messages of NVIDIA's device plugin 0.20.0, the more exact ones first: the pattern, its meaning and the fix."""


def check(world: World) -> Iterator[Verdict]:
    """Yield the first known message of each pod's log."""
    pods = plugin_pods(world)
    good = 0
    for pod in pods:
        log = kubernetes.log(world, pod, _CONTAINER)
        found = next(
            ((line, *rest) for pattern, *rest in _MESSAGES for line in log.splitlines() if pattern.search(line)), None
        )
        if found is None:
            good += 1
            continue
        line, means, fix = found
        node = pod.get("spec", {}).get("nodeName", "no node")
        yield broken(CHECK, f"pod {kubernetes.name(pod)} on {node}", seen=line.strip()[:300], means=means, fix=fix)
    if good == len(pods):
        yield works(CHECK, "device-plugin", f"the logs of its {good} pods have no known error")
