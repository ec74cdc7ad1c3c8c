"""The least machine that is of use for testing GPU code.

The figures: compute capability 7.0 as the least that CUDA 12 toolkits and today's wheels compile for, 7.5 for CUDA 13
(NVIDIA CUDA 13.0 release notes, August 2025); 8 GB of GPU memory, 4 vCPU, 16 GB of memory and 50 GB of disk as the
common ground of public GPU runner guides. A type below the floor is refused. A disk, and a share of a GPU, are figures
that the stack file chooses: those are warned of, since small jobs do with less (a share: in `checks.pool_shape`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu.kubernetes.quantities import GIB, MIB
from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu.machines import GpuModel, InstanceType, MachineType

CHECK = "floor"

LEAST_GPU_MEMORY_GB = 8

_CAPABILITY = {12: (7, 0), 13: (7, 5)}


def floor(path: str, machine: InstanceType | MachineType, *, cuda: str | None, disk_gib: int) -> list[Verdict]:
    """Judge one machine for jobs with that CUDA version and root disk; no version where its GPU is judged elsewhere."""
    if machine.gpu is None:
        return [_verdict(Level.ERROR, path, f"{machine.name} has no GPU", "choose a type with one, or attach one")]
    found = [*_capability(path, machine.gpu, cuda)] if cuda else []
    sold = f"{machine.name} has"
    found += [
        _verdict(level, path, f"{subject} {round(has, 1):g} {unit}, and {least} are the least of use", fix)
        for level, subject, has, least, unit, fix in (
            (Level.ERROR, sold, gpu_memory_gb(machine), LEAST_GPU_MEMORY_GB, "GB of GPU memory",
             "choose a type with a whole GPU"),
            (Level.ERROR, sold, machine.vcpus, 4, "vCPU", "choose a larger type"),
            (Level.ERROR, sold, machine.memory_mib * MIB / 1e9, 16, "GB of memory", "choose a larger type"),
            (Level.WARNING, "its machines get", disk_gib * GIB / 1e9, 50, "GB of disk", "state a larger disk"),
        )
        if has < least
    ]  # fmt: skip
    if found:
        return found
    enough = f"is enough for CUDA {cuda}" if cuda else "is enough"
    return [_verdict(Level.OK, path, f"{machine.name} with {machine.gpu.slug} and {disk_gib} GiB of disk {enough}")]


def gpu_memory_gb(machine: InstanceType | MachineType) -> float:
    """Memory of one of its GPUs in decimal gigabytes, as GPUs are sold."""
    return machine.gpu_memory_mib * MIB / 1e9


def _capability(path: str, model: GpuModel, cuda: str) -> Iterator[Verdict]:
    major = int(cuda.partition(".")[0])
    least = _CAPABILITY[min(max(major, min(_CAPABILITY)), max(_CAPABILITY))]
    if model.capability < least:
        has, wanted = (".".join(map(str, capability)) for capability in (model.capability, least))
        fix = "choose a newer GPU" if major < 13 else "choose a newer GPU, or CUDA 12"
        reason = f"{model.slug} has compute capability {has}, and CUDA {cuda} needs {wanted}"
        yield _verdict(Level.ERROR, path, reason, fix)


def _verdict(level: Level, subject: str, reason: str, fix: str = "") -> Verdict:
    return Verdict(check=CHECK, level=level, subject=subject, reason=reason, fix=fix)
