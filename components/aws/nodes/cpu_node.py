"""Labels and taints of nodes without GPUs for jobs, and the tags that describe them to the autoscaler. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from components.aws.nodes.gpu_node import POOL_LABEL, in_api_form, template_tags

CPU_TAINT_KEY: Final = "gpu-ci/cpu"
"""The key of the taint that keeps other pods off the nodes. Only jobs without a GPU tolerate it."""
CPU_TAINT: Final = "true:NoSchedule"


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuNode:
    """The nodes of one pool."""

    pool: str
    """The name of the pool."""
    ephemeral_mib: int
    """Disk space for pods on a node of any type, in MiB."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels that the stack file adds."""
    taints: Mapping[str, str] = field(default_factory=dict)
    """Taints that the stack file adds, as key to `value:Effect`."""
    scale_down_after_minutes: int | None = None
    """Minutes for which a node is idle before it is removed; None for the autoscaler's default."""


def cpu_labels(node: CpuNode) -> dict[str, str]:
    """Return the labels of a pool's nodes."""
    return dict(sorted({"role": "cpu", POOL_LABEL: node.pool, **node.labels}.items()))


def cpu_taints(node: CpuNode) -> list[dict[str, str]]:
    """Return the taints of a pool's nodes in the form of the EKS API."""
    return in_api_form(_taints(node))


def cpu_tags(node: CpuNode) -> dict[str, str]:
    """Return the tags that describe a node of an empty pool to the autoscaler."""
    return template_tags(
        labels=cpu_labels(node),
        taints=_taints(node),
        resources={"ephemeral-storage": f"{node.ephemeral_mib}Mi"},
        scale_down_after_minutes=node.scale_down_after_minutes,
    )


def _taints(node: CpuNode) -> dict[str, str]:
    return {CPU_TAINT_KEY: CPU_TAINT, **dict(sorted(node.taints.items()))}
