"""The resources that a node of an instance type offers to pods, step by step.

Sources: kubelet reservations and eviction thresholds of the EKS AL2023 image (`awslabs/amazon-eks-ami`,
nodeadm/internal/kubelet/config.go, 2026); memory used by hypervisor and kernel: Karpenter's default for its option
`vm-memory-overhead-percent` (v1.14.1: 7.5 %; 5 to 7 % is usual); the limit of pods in a managed node group: EKS user
guide ("How maxPods is determined", 2026).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from gpu.kubernetes.quantities import (
    CPU,
    EPHEMERAL_STORAGE,
    GIB,
    MEMORY,
    MIB,
    PODS,
    Resources,
    describe,
    format_cpu,
    format_memory,
)

if TYPE_CHECKING:
    from gpu.machines import InstanceType

VM_OVERHEAD_PER_MILLE = 75
EVICTION_MEMORY_MIB = 100
EVICTION_DISK_PERCENT = 10
RESERVED_DISK_GIB = 1

_CPU_STEPS = ((0, 1000, 600), (1000, 2000, 100), (2000, 4000, 50), (4000, None, 25))
"""From, to (millicores) and ten-thousandths of that range that are reserved: 6 %, 1 %, 0.5 %, 0.25 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRoom:
    """The resources of a node and the part of them that pods can use."""

    capacity: Resources
    allocatable: Resources
    chain: tuple[str, ...]
    """The deductions, with figures."""


def reserved_cpu(millicores: int) -> int:
    """Return the millicores that are reserved for the kubelet and the container runtime."""
    return sum(
        (min(millicores, end or millicores) - start) * share // 10_000
        for start, end, share in _CPU_STEPS
        if millicores > start
    )


def reserved_memory_mib(pods: int) -> int:
    """Return the mebibytes that are reserved for the kubelet, for the number of pods that the interfaces allow."""
    return 255 + 11 * pods


def max_pods(machine: InstanceType) -> int:
    """Return the number of pods that a node takes: its interfaces' addresses, up to the limit of EKS."""
    return min(machine.eni_pods, 110 if machine.vcpus < 30 else 250)


def root_disk_for(wanted: int) -> int:
    """Return the size in GiB of the smallest root disk that leaves `wanted` bytes to pods."""
    return -(-(wanted + RESERVED_DISK_GIB * GIB) * 100 // ((100 - EVICTION_DISK_PERCENT) * GIB))


@lru_cache(maxsize=1024)
def node_room(machine: InstanceType, *, disk_gib: int, nvme_storage: bool = False) -> NodeRoom:
    """Return the room on a node with a root disk of `disk_gib`.

    `nvme_storage` is nodeadm's `localStorage: RAID0`: pods use the instance store where the type has one.
    """
    cpu = machine.vcpus * 1000
    kept_cpu = reserved_cpu(cpu)
    sold = machine.memory_mib * MIB
    overhead = -(-machine.memory_mib * VM_OVERHEAD_PER_MILLE // 1000) * MIB
    kept_memory = reserved_memory_mib(machine.eni_pods) * MIB
    evicted = EVICTION_MEMORY_MIB * MIB
    nvme = nvme_storage and machine.nvme_gb > 0
    disk = machine.nvme_gb * 10**9 if nvme else disk_gib * GIB
    kept_disk = RESERVED_DISK_GIB * GIB + disk * EVICTION_DISK_PERCENT // 100
    pods = max_pods(machine)
    capacity = Resources.of({CPU: cpu, MEMORY: sold - overhead, EPHEMERAL_STORAGE: disk, PODS: pods})
    allocatable = Resources.of(
        {
            CPU: cpu - kept_cpu,
            MEMORY: max(0, sold - overhead - kept_memory - evicted),
            EPHEMERAL_STORAGE: max(0, disk - kept_disk),
            PODS: pods,
        }
    )
    return NodeRoom(
        capacity=capacity,
        allocatable=allocatable,
        chain=(
            (
                f"{machine.name}: {machine.vcpus} vCPU, less {format_cpu(kept_cpu)} for the kubelet "
                f"(6 %, 1 %, 0.5 %, 0.25 % by core), leaving {format_cpu(cpu - kept_cpu)}"
            ),
            (
                f"{machine.name}: {format_memory(sold)} advertised, less {format_memory(overhead)} for hypervisor and "
                f"kernel (7.5 %), less {format_memory(kept_memory)} for the kubelet (255Mi and 11Mi for each of "
                f"{machine.eni_pods} pods), less {format_memory(evicted)} at which pods are evicted, leaving "
                f"{format_memory(allocatable[MEMORY])}"
            ),
            (
                f"{machine.name}: {'instance store' if nvme else 'root disk'} of {describe(MEMORY, disk)}, less "
                f"{RESERVED_DISK_GIB}Gi for the kubelet and {EVICTION_DISK_PERCENT} % at which pods are evicted, "
                f"leaving {describe(MEMORY, allocatable[EPHEMERAL_STORAGE])}"
            ),
            f"{machine.name}: {machine.enis} interfaces of {machine.addresses} addresses allow {machine.eni_pods} pods"
            + (f", of which a managed node group uses {pods}" if pods < machine.eni_pods else ""),
        ),
    )
