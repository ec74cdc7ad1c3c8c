"""Sharing one GPU between jobs by time-slicing: the GPUs that a node then advertises.

Source: NVIDIA's device plugin 0.20.0 (README, "Shared access to GPUs", 2026).
"""

from __future__ import annotations

from components.gpu_names import GPU
from gpu_ci.knowledge.kubernetes.quantities import Resources
from gpu_ci.knowledge.machines import InstanceType


def advertised(machine: InstanceType, shares: int) -> Resources:
    """Return the GPUs that the device plugin advertises on a node of that type, `shares` for each GPU."""
    return Resources.of({GPU: machine.devices * shares})
