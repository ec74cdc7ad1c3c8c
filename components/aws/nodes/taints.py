"""Taint effects in both spellings, and taints as the EKS API takes them.

Kubernetes and the tags of the Cluster Autoscaler spell an effect `NoSchedule`, the EKS API `NO_SCHEDULE`. The
autoscaler silently ignores a tag in the spelling of the API.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

API_EFFECTS: Final = MappingProxyType(
    {"NoSchedule": "NO_SCHEDULE", "NoExecute": "NO_EXECUTE", "PreferNoSchedule": "PREFER_NO_SCHEDULE"}
)
"""The spelling of Kubernetes to the spelling of the EKS API."""
EFFECTS: Final = MappingProxyType({api: effect for effect, api in API_EFFECTS.items()})
"""The spelling of the EKS API to the spelling of Kubernetes."""
HARD_EFFECTS: Final = frozenset({"NoSchedule", "NoExecute"})
"""Effects that keep a pod off a node; the scheduler looks for exactly these words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiTaint:
    """A taint as the EKS API takes it."""

    key: str
    """For example `nvidia.com/gpu`."""
    value: str
    """For example `true`."""
    effect: str
    """A key of `EFFECTS`."""
