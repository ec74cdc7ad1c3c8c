"""One GPU for several jobs, and what a node then advertises.

Behaviour of NVIDIA's device plugin 0.20.0 (README, "Shared access to GPUs", 2026). Owns what the plugin advertises
and what it refuses; whether a stack's counts make sense of it is judged in `checks.counts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gpu.kubernetes.quantities import GPU, SHARED_GPU, Resources

if TYPE_CHECKING:
    from gpu.machines import InstanceType


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """How a GPU is shared."""

    mode: Literal["time-slicing", "mps", "mig"]
    replicas: int
    """How many jobs one GPU is offered to, or how many slices it is cut into."""
    rename: bool = False
    """Whether the resource is offered as `nvidia.com/gpu.shared` (`renameByDefault`)."""

    @property
    def resource(self) -> str:
        """What a pod has to ask for."""
        return SHARED_GPU if self.rename else GPU

    @property
    def refuses_several(self) -> bool:
        """Whether a pod that asks for more than one share is turned away on the node, as it is by default with MPS."""
        return self.mode == "mps"


def gpu_resource(sharing: Sharing | None) -> str:
    """The resource by which the pool's GPUs are asked for."""
    return sharing.resource if sharing else GPU


def advertised(machine: InstanceType, sharing: Sharing | None) -> Resources:
    """What the device plugin offers on a node of that type."""
    return Resources.of({gpu_resource(sharing): machine.devices * (sharing.replicas if sharing else 1)})
