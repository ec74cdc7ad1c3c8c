"""Check that a machine is large and new enough for testing GPU code.

The figures: compute capability 7.0, the minimum of CUDA 12 toolkits and current wheels; 8 GB of GPU memory, 4 vCPUs,
16 GB of memory and 50 GB of disk, which public guides to GPU runners agree on. A machine type below the minimum is an
error. The size of the disk is a choice of the stack file, so that a small one is only a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpu_ci.back_ends.stack import Stack
from gpu_ci.knowledge.kubernetes.quantities import GIB, MIB
from gpu_ci.knowledge.machines import InstanceType, MachineType
from gpu_ci.knowledge.verdict import Verdict, error, ok, warning

CHECK: Final = "floor"

_LEAST_GPU_MEMORY_GB: Final = 8
_LEAST_CAPABILITY: Final = (7, 0)
_LEAST_VCPUS: Final = 4
_LEAST_MEMORY_GB: Final = 16
_LEAST_DISK_GB: Final = 50
_LARGER: Final = "choose a larger type"


def check(stack: Stack) -> Iterator[Verdict]:
    """Check every machine that a runner with a GPU may get."""
    for name, offer in stack.offers.items():
        needs = stack.settings.runners[name].needs
        for machine in offer.machines if needs.gpu else ():
            yield from _machine(offer.path, machine.type, cuda=needs.cuda, disk_gib=machine.disk_gib)


def _gpu_memory_gb(machine: InstanceType | MachineType) -> float:
    """Return the memory of one of its GPUs in decimal gigabytes, as GPUs are sold."""
    return machine.gpu_memory_mib * MIB / 1e9


def _machine(path: str, machine: InstanceType | MachineType, *, cuda: str, disk_gib: int) -> Iterator[Verdict]:
    model = machine.gpu
    if model is None:
        yield error(CHECK, path, f"{machine.name} has no GPU", "choose a type with a GPU")
        return
    found = list(_too_small(path, machine, disk_gib))
    # `compatibility` reports a GPU that CUDA 13 dropped, with a fix.
    if model.capability < _LEAST_CAPABILITY and int(cuda.partition(".")[0]) < 13:
        has, least = (".".join(map(str, capability)) for capability in (model.capability, _LEAST_CAPABILITY))
        reason = (
            f"{model.slug} has compute capability {has}; the minimum is {least}, which current wheels are built for"
        )
        found.insert(0, error(CHECK, path, reason, "choose a newer GPU"))
    yield from found
    if not found:
        disk = f" and {disk_gib} GiB of disk" if disk_gib else ""
        yield ok(CHECK, path, f"{machine.name} with {model.slug}{disk} is large enough")


def _too_small(path: str, machine: InstanceType | MachineType, disk_gib: int) -> Iterator[Verdict]:
    for has, least, unit, fix in (
        (_gpu_memory_gb(machine), _LEAST_GPU_MEMORY_GB, "GB of GPU memory", "choose a type with a whole GPU"),
        (machine.vcpus, _LEAST_VCPUS, "vCPUs", _LARGER),
        (machine.memory_mib * MIB / 1e9, _LEAST_MEMORY_GB, "GB of memory", _LARGER),
    ):
        if has < least:
            reason = f"{machine.name} has {round(has, 1):g} {unit}; the minimum is {least}"
            yield error(CHECK, path, reason, fix)
    disk_gb = disk_gib * GIB / 1e9
    if 0 < disk_gb < _LEAST_DISK_GB:
        reason = f"its machines have {disk_gb:.1f} GB of disk; the recommended minimum is {_LEAST_DISK_GB}"
        yield warning(CHECK, path, reason, "state a larger disk")
