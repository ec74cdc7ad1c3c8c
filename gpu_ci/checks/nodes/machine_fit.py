"""Check that a job fits a machine of its own: CPU, memory, GPUs and disk. `gpu_ci.checks.nodes.fit` checks nodes.

Hypervisor and kernel use a part of the memory, as on EKS nodes (`gpu_ci.knowledge.kubernetes.allocatable`), and the
system, Docker and the runner use one gibibyte. No scheduler compares this sum with the job, so a job that needs more
gets a warning, and only one that needs more than the whole memory is an error. On the disk the system uses at least the
10 GB that Google's Ubuntu images are made for. A disk is never smaller than its image (Compute Engine documentation,
2026).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpu_ci.back_ends.offer import Offer, OwnMachines
from gpu_ci.back_ends.stack import Stack
from gpu_ci.knowledge.kubernetes.allocatable import unseen_memory_mib
from gpu_ci.knowledge.machines import InstanceType, MachineType
from gpu_ci.knowledge.verdict import Verdict, error, ok, warning
from gpu_ci.stack_file.sections.runners import Needs
from gpu_ci.stack_file.values.general import gibibytes, mebibytes

CHECK: Final = "fit"
SYSTEM_MIB: Final = 1024
SYSTEM_DISK_GIB: Final = 10


def check(stack: Stack) -> Iterator[Verdict]:
    """Check every machine type that a runner with machines of its own may get, and its disk."""
    for name, offer in stack.offers.items():
        if offer.own is not None:
            needs = stack.settings.runners[name].needs
            short = [verdict for machine in offer.machines for verdict in _machine(offer.path, machine.type, needs)]
            yield from short
            if not short:
                names = ", ".join(machine.type.name for machine in offer.machines)
                yield ok(CHECK, offer.path, f"it fits {names}, alone on its machine")
            if offer.own.disk_gib or offer.own.created:
                yield from _disk(offer, offer.own, needs)


def usable_memory_mib(machine: InstanceType | MachineType) -> int:
    """Return the memory of a machine that a job can use, in MiB."""
    return machine.memory_mib - unseen_memory_mib(machine.memory_mib) - SYSTEM_MIB


def _machine(path: str, machine: InstanceType | MachineType, needs: Needs) -> Iterator[Verdict]:
    room, memory_mib = usable_memory_mib(machine), mebibytes(needs.memory)
    short = [
        f"{has} {what} but the job needs {wants}"
        for what, has, wants in (
            ("cores", machine.vcpus, needs.cpu),
            ("MiB of memory", machine.memory_mib, memory_mib),
            ("GPUs", machine.devices, needs.gpus),
        )
        if has < wants
    ]
    chain = (
        f"{machine.name} is sold with {machine.vcpus} cores and {machine.memory_mib} MiB",
        f"hypervisor and kernel use {unseen_memory_mib(machine.memory_mib)} MiB, and the system {SYSTEM_MIB} MiB",
    )
    larger = f"replace {machine.name} by a larger type"
    if short:
        most = f"cpu: {min(needs.cpu, machine.vcpus)}, memory: {min(memory_mib, room) // 1024}Gi"
        yield error(CHECK, path, f"{machine.name} has {' and '.join(short)}", f"ask for {most}, or {larger}", chain)
    elif memory_mib > room:
        reason = f"{machine.name} has about {room} MiB of memory for the job, which needs {memory_mib}"
        yield warning(CHECK, path, reason, f"ask for memory: {room // 1024}Gi, or {larger}", chain)


def _disk(offer: Offer, own: OwnMachines, needs: Needs) -> Iterator[Verdict]:
    room, wanted = own.disk_gib - SYSTEM_DISK_GIB, gibibytes(needs.disk) if needs.disk else 0
    smaller = ", or a smaller host-image.builder.disk" if offer.host.builds_image else ""
    if own.disk_gib < own.image_gib:
        yield error(
            CHECK,
            own.disk_key,
            f"a disk of {own.disk_gib}Gi is smaller than the {own.image_gib}Gi of the image that it is created from",
            f"state at least {own.image_gib}Gi{smaller}",
        )
    elif wanted > room:
        less = f"ask for disk: {room}Gi, or " if room > 0 else ""
        yield error(
            CHECK,
            offer.path,
            f"its machines have {max(0, room)}Gi of disk besides the system, and it asks for {wanted}Gi",
            f"{less}state {own.disk_key}: {wanted + SYSTEM_DISK_GIB}Gi",
        )
