"""GCE machine types, and the GPUs that can be attached to types without one.

A2, A3, A4, C2, C2D, C3 and C3D, and the types that boot from Hyperdisk only: the machine families of GKE's Cluster
Autoscaler (public copy, 2026). Other sizes and the numbers of attachable GPUs: Google's machine-family documentation as
generally known. Read in Google's price list (August 2026): one and two L4 of g2-standard-16 and g2-standard-24, and
one, two or four T4 of n1. G4: Google's Dataflow documentation (2026). The largest number of vCPUs of an n1 with GPUs:
Google's "GPU machine types" (2026); for P100, where it differs by zone, the larger number. Custom types: "Create a VM
with a custom machine type" (2026). Zones are in `gpu_ci.knowledge.machines.zones`, prices in
`gpu_ci.knowledge.cost.prices_gcp`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from gpu_ci.knowledge.machines.models import GPU_MODELS, GpuModel
from gpu_ci.knowledge.nearest import UnknownName


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
    boot_disk: str = "pd-balanced"
    """The type of its boot disk."""
    stated: bool = False
    """True if the stack file states these facts."""
    hour: Decimal | None = None
    """The stated price of an hour on demand."""

    @property
    def gpu_memory_mib(self) -> int:
        """Memory of one GPU."""
        return self.gpu.memory_mib if self.gpu else 0

    @property
    def devices(self) -> int:
        """The number of GPUs that a driver sees."""
        return self.gpus

    @property
    def gvnic(self) -> bool:
        """Return whether the type only has a Google Virtual NIC, which a request must state.

        A type that the tables lack is newer than they are, and new types have no VirtIO network interface.
        """
        return self.stated or self.name.partition("-")[0] in _GVNIC_ONLY


_GVNIC_ONLY: Final = frozenset(("a3", "a4", "c3", "c3d", "g4"))
"""Series without a VirtIO network interface: the third generation and later (Google's page on gVNIC, 2026)."""
_HYPERDISK: Final = "hyperdisk-balanced"


def _standard(
    family: str, sizes: dict[int, int], gib: float, slug: str | None = None, boot_disk: str = "pd-balanced"
) -> list[MachineType]:
    """Return types that are named by their number of vCPUs; `sizes` maps it to the number of GPUs."""
    return [
        MachineType(
            name=f"{family}-{vcpus}",
            vcpus=vcpus,
            memory_mib=int(vcpus * gib * 1024),
            gpu=GPU_MODELS[slug] if slug else None,
            gpus=gpus,
            boot_disk=boot_disk,
        )
        for vcpus, gpus in sizes.items()
    ]


def _without_gpu(family: str, rows: Mapping[str, tuple[float, str]]) -> list[MachineType]:
    """Return types of a family without a GPU; `rows` maps a kind to GiB for each vCPU, and to its sizes."""
    return [
        machine
        for kind, (gib, sizes) in rows.items()
        for machine in _standard(f"{family}-{kind}", dict.fromkeys(map(int, sizes.split()), 0), gib)
    ]


def _eight(name: str, slug: str, vcpus: int, gib: int, boot_disk: str = "pd-balanced") -> MachineType:
    """Return a machine with eight GPUs."""
    return MachineType(name=name, vcpus=vcpus, memory_mib=gib * 1024, gpu=GPU_MODELS[slug], gpus=8, boot_disk=boot_disk)


def _by_gpus(family: str, slug: str, vcpus: int, gib: int, counts: tuple[int, ...]) -> list[MachineType]:
    """Return types that are named by their number of GPUs, with vCPUs and GiB for each GPU."""
    return [
        MachineType(
            name=f"{family}-{gpus}g", vcpus=vcpus * gpus, memory_mib=gib * gpus * 1024, gpu=GPU_MODELS[slug], gpus=gpus
        )
        for gpus in counts
    ]


_N1: Final = "2 4 8 16 32 64 96"
_N2: Final = "2 4 8 16 32 48 64 80 96"
_C2D: Final = "2 4 8 16 32 56 112"
_C3: Final = "4 8 22 44 88 176"
_C3D: Final = "4 8 16 30 60 90 180 360"

_TYPES = [
    *_without_gpu("n1", {"standard": (3.75, f"1 {_N1}"), "highmem": (6.5, _N1), "highcpu": (0.9, _N1)}),
    *_without_gpu("n2", {"standard": (4, f"{_N2} 128"), "highmem": (8, _N2), "highcpu": (1, _N2)}),
    MachineType(name="n2-highmem-128", vcpus=128, memory_mib=864 * 1024),
    *_without_gpu("n2d", {"standard": (4, f"{_N2} 128 224"), "highmem": (8, _N2), "highcpu": (1, f"{_N2} 128 224")}),
    *_without_gpu("c2", {"standard": (4, "4 8 16 30 60")}),
    *_without_gpu("c2d", {"standard": (4, _C2D), "highmem": (8, _C2D), "highcpu": (2, _C2D)}),
    *_without_gpu("c3", {"standard": (4, _C3), "highmem": (8, _C3), "highcpu": (2, _C3)}),
    *_without_gpu("c3d", {"standard": (4, _C3D), "highmem": (8, _C3D), "highcpu": (2, "4 8 16")}),
    *_without_gpu("c3d", {"highcpu": (59 / 30, "30 60 90 180 360")}),
    *_without_gpu("e2", {"standard": (4, "2 4 8 16 32"), "highmem": (8, "2 4 8 16"), "highcpu": (1, "2 4 8 16 32")}),
    MachineType(name="e2-small", vcpus=2, memory_mib=2048),
    MachineType(name="e2-medium", vcpus=2, memory_mib=4096),
    *_standard("g2-standard", {4: 1, 8: 1, 12: 1, 16: 1, 24: 2, 32: 1, 48: 4, 96: 8}, 4, "l4"),
    *_standard("g4-standard", {48: 1, 96: 2, 192: 4, 384: 8}, 3.75, "rtx-pro-6000", _HYPERDISK),
    *_by_gpus("a2-highgpu", "a100", 12, 85, (1, 2, 4, 8)),
    MachineType(name="a2-megagpu-16g", vcpus=96, memory_mib=1360 * 1024, gpu=GPU_MODELS["a100"], gpus=16),
    *_by_gpus("a2-ultragpu", "a100-80gb", 12, 170, (1, 2, 4, 8)),
    *_by_gpus("a3-highgpu", "h100", 26, 234, (1, 2, 4, 8)),
    _eight("a3-megagpu-8g", "h100", 208, 1872),
    _eight("a3-edgegpu-8g", "h100", 208, 1872),
    _eight("a3-ultragpu-8g", "h200", 224, 2952, _HYPERDISK),
    _eight("a4-highgpu-8g", "b200", 224, 3968, _HYPERDISK),
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


def _vcpus(machine: MachineType) -> int:
    return machine.vcpus


class Unattachable(ValueError):
    """The machine type cannot have that GPU or that number of GPUs."""

    def __init__(self, reason: str, fix: str = "use an n1 machine type, or one that includes the GPU") -> None:
        super().__init__(reason)
        self.fix = fix


_CUSTOM: Final = re.compile(r"(?:(?P<family>n1|n2|n2d|e2)-)?custom-(?P<vcpus>\d{1,3})-(?P<mib>\d{1,7})(?P<ext>-ext)?")
_CUSTOM_VCPUS: Final = MappingProxyType(
    {
        "n1": frozenset({1, *range(2, 97, 2)}),
        "n2": frozenset({*range(2, 33, 2), *range(36, 81, 4)}),
        "n2d": frozenset({2, 4, 8, *range(16, 97, 16)}),
        "e2": frozenset(range(2, 33, 2)),
    }
)
"""Family to the numbers of vCPUs of its custom types."""
_CUSTOM_GIB: Final = MappingProxyType({"n1": (0.9, 6.5), "n2": (0.5, 8.0), "n2d": (0.5, 8.0), "e2": (0.5, 8.0)})
"""Family to the memory for each vCPU of its custom types; `-ext` has no upper limit."""
_UNSUITABLE: Final = (
    (r"(t2a|c4a|n4a|a4x)", "has an arm64 processor, but images are for x86_64"),
    (r"(c4|n4|h4|z4|m4|x4)\w*", "boots from Hyperdisk only, but machines without a GPU get a pd-balanced disk"),
)
"""Families, as a pattern, that cannot be used, and the reason."""


def _custom(name: str) -> MachineType | None:
    """Return the custom machine type of that name; None where its numbers are not valid."""
    found = _CUSTOM.fullmatch(name)
    if found is None:
        return None
    family, vcpus, mib = found["family"] or "n1", int(found["vcpus"]), int(found["mib"])
    least, most = _CUSTOM_GIB[family]
    fits = least * 1024 * vcpus <= mib and (found["ext"] is not None or mib <= most * 1024 * vcpus)
    if vcpus not in _CUSTOM_VCPUS[family] or mib % 256 or not fits or (found["ext"] and family == "e2"):
        return None
    return MachineType(name=name, vcpus=vcpus, memory_mib=mib)


def unsuitable(name: str) -> str:
    """Return why no machine type of that family can be used; empty where none is known."""
    family = name.partition("-")[0]
    return next((reason for families, reason in _UNSUITABLE if re.fullmatch(families, family)), "")


def _fix(name: str) -> str:
    """Return the fix for a name that is not known; empty where the nearest name is the fix."""
    if "custom" in name:
        return "write FAMILY-custom-VCPUS-MIB with numbers that Google accepts, as in n1-custom-8-32768"
    reason = unsuitable(name)
    return f"it {reason}; use n1, n2, e2, g2, a2 or a3" if reason else ""


def gce_type(name: str) -> MachineType:
    """Return the machine type of that name, predefined or custom.

    Raises:
        UnknownName: there is no such type.

    """
    found = GCE_TYPES.get(name) or _custom(name)
    if found is None:
        raise UnknownName("GCE machine type", name, GCE_TYPES, _fix(name))
    return found


def is_n1(machine: str) -> bool:
    """Return whether GPUs can be attached to the machine type; a custom type without a family is an N1."""
    return machine.startswith(("n1-", "custom-"))


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
    if not is_n1(machine.name):
        raise Unattachable(f"no GPU can be attached to {machine.name}; only to n1 machines")
    counts = ATTACHABLE.get(model.slug, {})
    if gpus not in counts:
        what = (
            f"{model.slug} attaches in {', '.join(map(str, counts))}" if counts else f"{model.slug} is never attached"
        )
        raise Unattachable(f"{machine.name} cannot have {gpus} x {model.slug}: {what}")
    most = counts[gpus]
    if machine.vcpus > most:
        largest = max((one for one in _TYPES if one.name.startswith("n1-standard-") and one.vcpus <= most), key=_vcpus)
        raise Unattachable(
            f"{machine.name} has {machine.vcpus} vCPU, and with {gpus} x {model.slug} a machine has {most} at most",
            f"take {largest.name} or smaller",
        )
    return replace(machine, gpu=model, gpus=gpus, attached=True)
