"""DaemonSets: pods that run on every node besides the jobs and use part of its capacity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpu_ci.knowledge.kubernetes.pods import Pod, Toleration, pod_from_template

EVERYWHERE = (Toleration(operator="Exists"),)
"""Tolerates every taint, as the DaemonSets of Kubernetes and EKS do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonSet:
    """One pod on each node that it may run on."""

    name: str
    pod: Pod

    @classmethod
    def of(cls, name: str, template: Mapping[str, Any]) -> DaemonSet:
        """Return the DaemonSet of that pod template."""
        return cls(name=name, pod=pod_from_template(template))
