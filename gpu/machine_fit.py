"""Whether a job fits a whole machine of its own, as cirun starts one: what is sold, less what the system takes.

Owns the judgement for machines without a kubelet; nodes of a cluster are `gpu.fit`'s. What the operating system does
not see of the memory is reckoned as for EKS nodes (7.5 %, Karpenter's default for what EC2 holds back, 2026), and a
gibibyte is left to the system, Docker and the runner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpu.instance_types import InstanceType, MachineType

CHECK = "fit"
SYSTEM_MIB = 1024
HELD_BACK = 0.075


def usable_memory_mib(machine: InstanceType | MachineType) -> int:
    """What a job can have of a machine's memory, in MiB."""
    return int(machine.memory_mib * (1 - HELD_BACK)) - SYSTEM_MIB


def machine_fits(
    path: str, machines: Sequence[InstanceType | MachineType], *, cpu: int, memory_mib: int, gpus: int
) -> list[Verdict]:
    """Judge a job with `cpu` cores, `memory_mib` MiB and `gpus` GPUs on every machine it may be given.

    Machines have their GPUs attached already (`gpu.instance_types.attach`).
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
                    offender=path,
                    reason=f"{machine.name} has {' and '.join(short)}",
                    way_out=f"ask for {most}, or leave {machine.name} out for a larger one",
                    chain=(
                        f"{machine.name} is sold with {machine.vcpus} cores and {machine.memory_mib} MiB",
                        f"{HELD_BACK:.1%} of the memory is held back, and {SYSTEM_MIB} MiB are the system's",
                    ),
                )
            )
    names = ", ".join(machine.name for machine in machines)
    fits = Verdict(check=CHECK, level=Level.OK, offender=path, reason=f"it fits {names}, alone on its machine")
    return found or [fits]
