"""What marks a GPU node: labels, taints, and the tags by which the autoscaler knows an empty pool. Pure.

One place, because a node, the pods that want it and the autoscaler that imagines it must agree to the letter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpu.kubernetes.node_group import ACCELERATOR, GPU_PRESENT
from gpu.kubernetes.quantities import GPU
from gpu.kubernetes.taints import API_EFFECTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GPU_TAINT_KEY = GPU
GPU_TAINT = "true:NoSchedule"
POOL_LABEL = "gpu-ci/pool"
"""Names a node's pool; what a runner selects."""
NODE_TEMPLATE = "k8s.io/cluster-autoscaler/node-template"


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuNode:
    """What the nodes of one pool are."""

    pool: str
    accelerator: str
    """The GPU model as the autoscaler's label names it: `nvidia-tesla-t4`."""
    gpus: int
    """GPUs of the pool's first instance type, by which the autoscaler reckons."""
    disk_gib: int
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels that the stack file adds."""
    taints: Mapping[str, str] = field(default_factory=dict)
    """Taints that the stack file adds, as `value:Effect`."""
    sharing_replicas: int = 1
    """Jobs that share one GPU."""
    device_plugin_config: str | None = None
    """The device plugin's configuration for these nodes, where it is not the default."""
    scale_down_after_minutes: int | None = None


def node_labels(node: GpuNode) -> dict[str, str]:
    """The labels of a pool's nodes.

    `nvidia.com/gpu.present` is what the device plugin's chart looks for; without it the plugin runs nowhere, and
    without a word. `k8s.amazonaws.com/accelerator` makes the autoscaler wait for the GPU to appear; without it the
    pool is scaled up twice.
    """
    labels = {
        GPU: "true",
        GPU_PRESENT: "true",
        ACCELERATOR: node.accelerator,
        "role": "gpu",
        POOL_LABEL: node.pool,
        **node.labels,
    }
    if node.device_plugin_config is not None:
        labels["nvidia.com/device-plugin.config"] = node.device_plugin_config
    return dict(sorted(labels.items()))


def node_taints(node: GpuNode) -> dict[str, str]:
    """The taints of a pool's nodes, as `value:Effect`."""
    return {GPU_TAINT_KEY: GPU_TAINT, **dict(sorted(node.taints.items()))}


def api_taints(node: GpuNode) -> list[dict[str, str]]:
    """The taints as the EKS API takes them."""
    split = {key: taint.rpartition(":") for key, taint in node_taints(node).items()}
    return [{"key": key, "value": value, "effect": API_EFFECTS[effect]} for key, (value, _, effect) in split.items()]


def autoscaler_tags(node: GpuNode) -> dict[str, str]:
    """What tells the autoscaler of a node that is not there yet.

    They stand on the auto-scaling group, which it always reads, and on the node group, whose tags do not reach the
    group by themselves. The tags `enabled` and `<cluster>` are EKS's own.
    """
    tags = {f"{NODE_TEMPLATE}/label/{key}": value for key, value in node_labels(node).items()}
    tags |= {f"{NODE_TEMPLATE}/taint/{key}": taint for key, taint in node_taints(node).items()}
    tags[f"{NODE_TEMPLATE}/resources/{GPU}"] = str(node.gpus * node.sharing_replicas)
    # Nine tenths: the kubelet evicts at a tenth left, and the image's own files stand there too.
    tags[f"{NODE_TEMPLATE}/resources/ephemeral-storage"] = f"{node.disk_gib * 9 // 10}Gi"
    if node.scale_down_after_minutes is not None:
        tags[f"{NODE_TEMPLATE}/autoscaling-options/scaledownunneededtime"] = f"{node.scale_down_after_minutes}m0s"
    return tags


def tolerations(taints: Mapping[str, str]) -> list[dict[str, str]]:
    """What a pod needs to stand on nodes with `taints` beside the GPU's own."""
    return [
        {"key": GPU_TAINT_KEY, "operator": "Exists", "effect": "NoSchedule"},
        *(
            {"key": key, "operator": "Equal", "value": taint.rpartition(":")[0], "effect": taint.rpartition(":")[2]}
            for key, taint in sorted(taints.items())
        ),
    ]


def every_toleration(pools: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """What a DaemonSet needs to stand on every pool's nodes, each toleration once."""
    found: list[dict[str, str]] = []
    for taints in pools or [{}]:
        found += [toleration for toleration in tolerations(taints) if toleration not in found]
    return found
