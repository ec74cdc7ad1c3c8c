"""Labels and taints of GPU nodes, and the tags from which the autoscaler knows the nodes of an empty pool. Pure.

They are in one module because nodes, pods and the autoscaler must use the same names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from components.aws.nodes.taints import API_EFFECTS
from components.gpu_names import ACCELERATOR, GPU, GPU_PRESENT

GPU_TAINT_KEY = GPU
GPU_TAINT = "true:NoSchedule"
POOL_LABEL = "gpu-ci/pool"
"""The label with the name of the pool. Runners select nodes by it."""
NODE_TEMPLATE = "k8s.io/cluster-autoscaler/node-template"


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuNode:
    """The nodes of one pool."""

    pool: str
    """The name of the pool."""
    accelerator: str
    """The GPU model in the autoscaler's label, for example `nvidia-tesla-t4`."""
    gpus: int
    """GPUs of the first instance type, from which the autoscaler computes."""
    ephemeral_mib: int
    """Disk space for pods on a node of any type, in MiB."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels that the stack file adds."""
    taints: Mapping[str, str] = field(default_factory=dict)
    """Taints that the stack file adds, as key to `value:Effect`."""
    sharing_replicas: int = 1
    """Jobs that share one GPU."""
    device_plugin_config: str | None = None
    """The name of the device plugin's configuration; None for its default."""
    scale_down_after_minutes: int | None = None
    """Minutes for which a node is idle before it is removed; None for the autoscaler's default."""


def node_labels(node: GpuNode) -> dict[str, str]:
    """Return the labels of a pool's nodes.

    The device plugin's chart selects nodes by `nvidia.com/gpu.present`; without the label the plugin silently runs
    nowhere. With `k8s.amazonaws.com/accelerator` the autoscaler waits for the GPU of a new node; without it the pool is
    scaled up twice.
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
    """Return the taints of a pool's nodes, as key to `value:Effect`."""
    return {GPU_TAINT_KEY: GPU_TAINT, **dict(sorted(node.taints.items()))}


def api_taints(node: GpuNode) -> list[dict[str, str]]:
    """Return the taints in the form of the EKS API."""
    return in_api_form(node_taints(node))


def in_api_form(taints: Mapping[str, str]) -> list[dict[str, str]]:
    """Return taints, as key to `value:Effect`, in the form of the EKS API."""
    split = {key: taint.rpartition(":") for key, taint in taints.items()}
    return [{"key": key, "value": value, "effect": API_EFFECTS[effect]} for key, (value, _, effect) in split.items()]


def autoscaler_tags(node: GpuNode) -> dict[str, str]:
    """Return the tags that describe a node of an empty pool to the autoscaler.

    The auto-scaling group has them, because the autoscaler always reads it; EKS does not copy them from the node group.
    EKS itself adds the tags `enabled` and `<cluster>`.
    """
    return template_tags(
        labels=node_labels(node),
        taints=node_taints(node),
        resources={GPU: str(node.gpus * node.sharing_replicas), "ephemeral-storage": f"{node.ephemeral_mib}Mi"},
        scale_down_after_minutes=node.scale_down_after_minutes,
    )


def template_tags(
    *,
    labels: Mapping[str, str],
    taints: Mapping[str, str],
    resources: Mapping[str, str],
    scale_down_after_minutes: int | None,
) -> dict[str, str]:
    """Return the autoscaler's tags for these labels, taints and resources of a node."""
    tags = {f"{NODE_TEMPLATE}/label/{key}": value for key, value in labels.items()}
    tags |= {f"{NODE_TEMPLATE}/taint/{key}": taint for key, taint in taints.items()}
    tags |= {f"{NODE_TEMPLATE}/resources/{name}": amount for name, amount in resources.items()}
    if scale_down_after_minutes is not None:
        tags[f"{NODE_TEMPLATE}/autoscaling-options/scaledownunneededtime"] = f"{scale_down_after_minutes}m0s"
    return tags


def tolerations(taints: Mapping[str, str], *, own: str = GPU_TAINT_KEY) -> list[dict[str, str]]:
    """Return the tolerations for nodes with `taints` and the taint `own`, which is that of GPU nodes by default."""
    return [
        {"key": own, "operator": "Exists", "effect": "NoSchedule"},
        *(
            {"key": key, "operator": "Equal", "value": taint.rpartition(":")[0], "effect": taint.rpartition(":")[2]}
            for key, taint in sorted(taints.items())
        ),
    ]


def every_toleration(pools: Sequence[Mapping[str, str]], *, own: str = GPU_TAINT_KEY) -> list[dict[str, str]]:
    """Return the tolerations for the nodes of every pool, each toleration once. `own` is as in `tolerations`."""
    found: list[dict[str, str]] = []
    for taints in pools or [{}]:
        found += [toleration for toleration in tolerations(taints, own=own) if toleration not in found]
    return found
