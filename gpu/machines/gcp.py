"""GCE machine types, and which GPUs can be attached to those that bring none.

Sizes and attachable counts follow Google's machine-family documentation as generally known; that a g2-standard-16 and
a g2-standard-24 bring one and two L4 was read in Google's price list (August 2026), as was that T4 attaches to n1 in
ones, twos and fours. How many vCPUs an n1 may have beside its GPUs: Google's "GPU machine types" (2026); of P100, whose
number differs by zone, the larger. Everything else is marked as recalled. Zones are in `gpu.machines.zones`, prices in
`gpu.cost.prices_gcp`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType

from gpu.machines.models import GPU_MODELS, Confidence, GpuModel
from gpu.nearest import UnknownName


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineType:
    """One GCE machine type, with the GPUs that it brings or that were attached."""

    name: str
    vcpus: int
    memory_mib: int
    gpu: GpuModel | None = None
    gpus: int = 0
    attached: bool = False
    """Whether the GPUs are attached by the request, not part of the machine type: only then may it name them."""
    confidence: Confidence = Confidence.RECALLED

    @property
    def gpu_memory_mib(self) -> int:
        """Memory of one GPU."""
        return self.gpu.memory_mib if self.gpu else 0


def _standard(family: str, sizes: dict[int, int], gib: float, slug: str | None = None) -> list[MachineType]:
    """Types named by their vCPU count, with `sizes` from that count to the number of GPUs."""
    return [
        MachineType(
            name=f"{family}-{vcpus}",
            vcpus=vcpus,
            memory_mib=int(vcpus * gib * 1024),
            gpu=GPU_MODELS[slug] if slug else None,
            gpus=gpus,
            confidence=Confidence.PUBLISHED if (slug, vcpus) in {("l4", 16), ("l4", 24)} else Confidence.RECALLED,
        )
        for vcpus, gpus in sizes.items()
    ]


def _by_gpus(family: str, slug: str, vcpus: int, gib: int, counts: tuple[int, ...]) -> list[MachineType]:
    """Types named by their GPU count, with so many vCPUs and GiB for each GPU."""
    return [
        MachineType(
            name=f"{family}-{gpus}g", vcpus=vcpus * gpus, memory_mib=gib * gpus * 1024, gpu=GPU_MODELS[slug], gpus=gpus
        )
        for gpus in counts
    ]


_TYPES = [
    *_standard("n1-standard", dict.fromkeys((1, 2, 4, 8, 16, 32, 64, 96), 0), 3.75),
    *_standard("g2-standard", {4: 1, 8: 1, 12: 1, 16: 1, 24: 2, 32: 1, 48: 4, 96: 8}, 4, "l4"),
    *_by_gpus("a2-highgpu", "a100", 12, 85, (1, 2, 4, 8)),
    *_by_gpus("a2-ultragpu", "a100-80gb", 12, 170, (1, 2, 4, 8)),
    *_by_gpus("a3-highgpu", "h100", 26, 234, (1, 2, 4, 8)),
    MachineType(name="e2-medium", vcpus=2, memory_mib=4096),
    *_standard("e2-standard", dict.fromkeys((2, 4, 8, 16, 32), 0), 4),
]

GCE_TYPES = MappingProxyType({found.name: found for found in _TYPES})
"""Every machine type by its name."""

ATTACHABLE = MappingProxyType(
    {
        "t4": {1: 48, 2: 48, 4: 96},
        "p4": {1: 24, 2: 48, 4: 96},
        "p100": {1: 16, 2: 32, 4: 96},
        "v100": {1: 12, 2: 24, 4: 48, 8: 96},
    }
)
"""How many GPUs of which model can be attached to an n1 machine, and how many vCPUs it may then have at most."""


def _vcpus(machine: MachineType) -> int:
    return machine.vcpus


class Unattachable(ValueError):
    """A GPU that the machine type cannot have in that number."""

    def __init__(self, reason: str, fix: str = "take an n1 machine, or one that brings the GPU asked for") -> None:
        super().__init__(reason)
        self.fix = fix


def gce_type(name: str) -> MachineType:
    """The machine type of that name."""
    try:
        return GCE_TYPES[name]
    except KeyError:
        raise UnknownName("GCE machine type", name, GCE_TYPES) from None


def attach(machine: MachineType, model: GpuModel, gpus: int) -> MachineType:
    """The machine with these GPUs: its own where it brings them, attached where it is an n1."""
    if machine.gpu is not None:
        if (machine.gpu, machine.gpus) == (model, gpus):
            return machine
        raise Unattachable(
            f"{machine.name} brings {machine.gpus} x {machine.gpu.slug}, and nothing else can be attached to it"
        )
    if not machine.name.startswith("n1-"):
        raise Unattachable(f"no GPU can be attached to {machine.name}; only to n1 machines")
    counts = ATTACHABLE.get(model.slug, {})
    if gpus not in counts:
        what = (
            f"{model.slug} attaches in {', '.join(map(str, counts))}" if counts else f"{model.slug} is never attached"
        )
        raise Unattachable(f"{machine.name} cannot have {gpus} x {model.slug}: {what}")
    most = counts[gpus]
    if machine.vcpus > most:
        largest = max((one for one in _TYPES if one.name.startswith("n1-") and one.vcpus <= most), key=_vcpus)
        raise Unattachable(
            f"{machine.name} has {machine.vcpus} vCPU, and with {gpus} x {model.slug} a machine has {most} at most",
            f"take {largest.name} or smaller",
        )
    return replace(machine, gpu=model, gpus=gpus, attached=True)
