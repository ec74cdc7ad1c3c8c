"""The least machine that is of use for testing GPU code.

The figures: compute capability 7.0 as the least that CUDA 12 toolkits and today's wheels compile for, 7.5 for CUDA 13
(NVIDIA CUDA 13.0 release notes, August 2025); 8 GB of GPU memory, 4 vCPU, 16 GB of memory and 50 GB of disk as the
common ground of public GPU runner guides. Below a capability nothing runs; below the rest, something soon will not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu.quantities import GIB, MIB
from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from gpu.instance_types import InstanceType, MachineType

CHECK = "floor"

_CAPABILITY = {12: (7, 0), 13: (7, 5)}


def floor(path: str, machine: InstanceType | MachineType, *, cuda: str, disk_gib: int) -> list[Verdict]:
    """Judge one machine for jobs with that CUDA version and root disk."""
    if machine.gpu is None:
        return [_verdict(Level.ERROR, path, f"{machine.name} has no GPU", "choose a type with one, or attach one")]
    major = int(cuda.partition(".")[0])
    least = _CAPABILITY[min(max(major, min(_CAPABILITY)), max(_CAPABILITY))]
    found: list[Verdict] = []
    sold = f"{machine.name} has"
    if machine.gpu.capability < least:
        has, wanted = (".".join(map(str, capability)) for capability in (machine.gpu.capability, least))
        way_out = "choose a newer GPU" if major < 13 else "choose a newer GPU, or CUDA 12"
        reason = f"{machine.gpu.slug} has compute capability {has}, and CUDA {cuda} needs {wanted}"
        found.append(_verdict(Level.ERROR, path, reason, way_out))
    found += [
        _verdict(
            Level.WARNING,
            path,
            f"{subject} {round(has, 1):g} {unit}, and {least} are the least of use",
            way_out,
        )
        for subject, has, least, unit, way_out in (
            (sold, machine.gpu_memory_mib * MIB / 1e9, 8, "GB of GPU memory", "choose a type with a whole GPU"),
            (sold, machine.vcpus, 4, "vCPU", "choose a larger type"),
            (sold, machine.memory_mib * MIB / 1e9, 16, "GB of memory", "choose a larger type"),
            ("its machines get", disk_gib * GIB / 1e9, 50, "GB of disk", "state a larger disk"),
        )
        if has < least
    ]
    if found:
        return found
    reason = f"{machine.name} with {machine.gpu.slug} and {disk_gib} GiB of disk is enough for CUDA {cuda}"
    return [_verdict(Level.OK, path, reason)]


def _verdict(level: Level, offender: str, reason: str, way_out: str = "") -> Verdict:
    return Verdict(check=CHECK, level=level, offender=offender, reason=reason, way_out=way_out)
