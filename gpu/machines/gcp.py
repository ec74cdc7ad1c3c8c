"""GCE machine types, and the GPUs that can be attached to types without one.

Sizes and numbers of attachable GPUs: Google's machine-family documentation as generally known. Read
in Google's price list (August 2026): one and two L4 of g2-standard-16 and g2-standard-24, and one, two or four T4 of
n1. The largest number of vCPUs of an n1 with GPUs: Google's "GPU machine types" (2026); for P100, where it differs by
zone, the larger number. Zones are in `gpu.machines.zones`, prices in `gpu.cost.prices_gcp`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType

from gpu.machines.models import GPU_MODELS, GpuModel
from gpu.nearest import UnknownName


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineType:
    """One GCE machine type, with its own GPUs or with attached ones."""

    name: str
    vcpus: int
    memory_mib: int
    gpu: GpuModel | None = None
    gpus: int = 0
    attached: bool = False
    """True if the request attaches the GPUs; false if they are part of the machine type."""

    @property
    def gpu_memory_mib(self) -> int:
        """Memory of one GPU."""
        return self.gpu.memory_mib if self.gpu else 0


def _standard(family: str, sizes: dict[int, int], gib: float, slug: str | None = None) -> list[MachineType]:
    """Return types that are named by their number of vCPUs; `sizes` maps it to the number of GPUs."""
    return [
        MachineType(
            name=f"{family}-{vcpus}",
            vcpus=vcpus,
            memory_mib=int(vcpus * gib * 1024),
            gpu=GPU_MODELS[slug] if slug else None,
            gpus=gpus,
        )
        for vcpus, gpus in sizes.items()
    ]


def _by_gpus(family: str, slug: str, vcpus: int, gib: int, counts: tuple[int, ...]) -> list[MachineType]:
    """Return types that are named by their number of GPUs, with vCPUs and GiB for each GPU."""
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
"""GPU model to the numbers that can be attached to an n1 machine, each with its largest number of vCPUs."""

_GVNIC_ONLY = frozenset(("a3", "a4", "c3", "c3d", "c4", "c4a", "c4d", "g4", "h3", "m3", "m4", "n4", "z3"))
"""Machine series without a VirtIO network interface: the third generation and later (Google's page on gVNIC, 2026)."""


def needs_gvnic(name: str) -> bool:
    """Return whether a machine type only has a Google Virtual NIC, which a request must state."""
    return name.partition("-")[0] in _GVNIC_ONLY


def _vcpus(machine: MachineType) -> int:
    return machine.vcpus


class Unattachable(ValueError):
    """The machine type cannot have that GPU or that number of GPUs."""

    def __init__(self, reason: str, fix: str = "use an n1 machine type, or one that includes the GPU") -> None:
        super().__init__(reason)
        self.fix = fix


def gce_type(name: str) -> MachineType:
    """Return the machine type of that name.

    Raises:
        UnknownName: there is no such type.

    """
    try:
        return GCE_TYPES[name]
    except KeyError:
        raise UnknownName("GCE machine type", name, GCE_TYPES) from None


def attach(machine: MachineType, model: GpuModel, gpus: int) -> MachineType:
    """Return the machine with these GPUs: its own, or attached ones for n1.

    Raises:
        Unattachable: the machine cannot have these GPUs.

    """
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
