"""Whether a job fits a whole machine of its own, as cirun starts one: what is sold, less what the system takes.

Owns the judgement for machines without a kubelet; nodes of a cluster are `checks.fit`'s. What the operating system does
not see of the memory is reckoned as for EKS nodes (7.5 %, Karpenter's default for what EC2 holds back, 2026), and a
gibibyte is left to the system, Docker and the runner. Of the disk the system takes at least the 10 GB that Google's
Ubuntu images are made for; GCE makes no disk smaller than the image (Compute Engine documentation, 2026).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpu.machines import InstanceType, MachineType

CHECK = "fit"
SYSTEM_MIB = 1024
HELD_BACK = 0.075
SYSTEM_DISK_GIB = 10


def usable_memory_mib(machine: InstanceType | MachineType) -> int:
    """What a job can have of a machine's memory, in MiB."""
    return int(machine.memory_mib * (1 - HELD_BACK)) - SYSTEM_MIB


def machine_fits(
    path: str, machines: Sequence[InstanceType | MachineType], *, cpu: int, memory_mib: int, gpus: int
) -> list[Verdict]:
    """Judge a job with `cpu` cores, `memory_mib` MiB and `gpus` GPUs on every machine it may be given.

    Machines have their GPUs attached already (`gpu.machines.attach`).
    """
    found: list[Verdict] = []
    for machine in machines:
        room = usable_memory_mib(machine)
        short = [
            f"{has} {what} where {wants} are asked for"
            for what, has, wants in (
                ("cores", machine.vcpus, cpu),
                ("MiB of memory", room, memory_mib),
                ("GPUs", machine.gpus, gpus),
            )
            if has < wants
        ]
        if short:
            most = f"cpu: {min(cpu, machine.vcpus)}, memory: {min(memory_mib, room) // 1024}Gi"
            found.append(
                Verdict(
                    check=CHECK,
                    level=Level.ERROR,
                    subject=path,
                    reason=f"{machine.name} has {' and '.join(short)}",
                    fix=f"ask for {most}, or leave {machine.name} out for a larger one",
                    chain=(
                        f"{machine.name} is sold with {machine.vcpus} cores and {machine.memory_mib} MiB",
                        f"{HELD_BACK:.1%} of the memory is held back, and {SYSTEM_MIB} MiB are the system's",
                    ),
                )
            )
    names = ", ".join(machine.name for machine in machines)
    fits = Verdict(check=CHECK, level=Level.OK, subject=path, reason=f"it fits {names}, alone on its machine")
    return found or [fits]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnDisk:
    """The root disk of machines that serve one job each."""

    path: str
    """Whose they are, as in `runners.cirun-gcp-gpu`."""
    stated: str
    """Where the stack file states its size."""
    gib: int
    image_gib: int = 0
    """What the image was built on; 0 where that is not known."""
    wanted_gib: int = 0
    """What a job asks for."""


def disk_fits(disk: OwnDisk) -> list[Verdict]:
    """Judge a disk for a job's files, and for the image itself; nothing where it will do."""
    room = disk.gib - SYSTEM_DISK_GIB
    if disk.gib < disk.image_gib:
        subject = disk.stated
        reason = f"a disk of {disk.gib}Gi is smaller than the {disk.image_gib}Gi of the image that it is made from"
        fix = f"state at least {disk.image_gib}Gi, or less as host-image.builder.disk"
    elif disk.wanted_gib > room:
        subject = disk.path
        reason = f"its machines have {max(0, room)}Gi of disk beside the system, and it asks for {disk.wanted_gib}Gi"
        less = f"ask for disk: {room}Gi, or " if room > 0 else ""
        fix = f"{less}state {disk.stated}: {disk.wanted_gib + SYSTEM_DISK_GIB}Gi"
    else:
        return []
    return [Verdict(check=CHECK, level=Level.ERROR, subject=subject, reason=reason, fix=fix)]
