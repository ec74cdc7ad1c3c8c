"""Sharing one GPU between jobs: the GPUs that a node then advertises.

Source: NVIDIA's device plugin 0.20.0 (README, "Shared access to GPUs", 2026).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gpu.kubernetes.quantities import GPU, Resources

if TYPE_CHECKING:
    from gpu.machines import InstanceType


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """Sharing of the GPUs of a node."""

    mode: Literal["time-slicing", "mps"]
    replicas: int
    """The number of jobs that share one GPU."""


def advertised(machine: InstanceType, sharing: Sharing | None) -> Resources:
    """Return the GPUs that the device plugin advertises on a node of that type."""
    return Resources.of({GPU: machine.devices * (sharing.replicas if sharing else 1)})
