"""The resources that a node of an instance type offers to pods, step by step.

Sources: kubelet reservations and eviction thresholds of the EKS AL2023 image (`awslabs/amazon-eks-ami`,
nodeadm/internal/kubelet/config.go, 2026); memory used by hypervisor and kernel: the measurements of every type in
Karpenter's `zz_generated.memory_overhead.go` (2023), of which `unseen_memory_mib` is the upper bound; the limit of pods
in a managed node group: EKS user guide ("How maxPods is determined", 2026). The root file system: a node of AL2023 with
a volume of 20 GiB (November 2026). The instance store: the defaults of `mdadm` and `mkfs.xfs`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from gpu_ci.knowledge.kubernetes.quantities import (
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
from gpu_ci.knowledge.machines import InstanceType

UNSEEN_MEMORY_MIB, UNSEEN_MEMORY_PERCENT = 280, 4
ROOT_DISK_LOSS_MIB = 77
"""The boot partitions and the journal of the root file system. They do not grow with the volume."""
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


def unseen_memory_mib(sold_mib: int) -> int:
    """Return the MiB of the sold memory that hypervisor and kernel use, at most all of it."""
    return min(sold_mib, UNSEEN_MEMORY_MIB - (-sold_mib * UNSEEN_MEMORY_PERCENT // 100))


def file_system(machine: InstanceType, *, disk_gib: int, nvme_storage: bool) -> int:
    """Return the bytes of the file system that pods use."""
    if nvme_storage and machine.nvme_gb:
        # The metadata of each disk in the array, and a journal that grows with the size.
        return machine.nvme_gb * 10**9 * 999 // 1000 - 200 * MIB
    return disk_gib * GIB - ROOT_DISK_LOSS_MIB * MIB


def root_disk_for(wanted: int) -> int:
    """Return the size in GiB of the smallest root disk that leaves `wanted` bytes to pods."""
    needed = -(-(wanted + RESERVED_DISK_GIB * GIB) * 100 // (100 - EVICTION_DISK_PERCENT))
    return -(-(needed + ROOT_DISK_LOSS_MIB * MIB) // GIB)


@lru_cache(maxsize=1024)
def node_room(machine: InstanceType, *, disk_gib: int, nvme_storage: bool = False) -> NodeRoom:
    """Return the room on a node with a root disk of `disk_gib`.

    `nvme_storage` is nodeadm's `localStorage: RAID0`: pods use the instance store where the type has one.
    """
    cpu = machine.vcpus * 1000
    kept_cpu = reserved_cpu(cpu)
    sold = machine.memory_mib * MIB
    overhead = unseen_memory_mib(machine.memory_mib) * MIB
    kept_memory = reserved_memory_mib(machine.eni_pods) * MIB
    evicted = EVICTION_MEMORY_MIB * MIB
    nvme = nvme_storage and machine.nvme_gb > 0
    disk = file_system(machine, disk_gib=disk_gib, nvme_storage=nvme_storage)
    kept_disk = RESERVED_DISK_GIB * GIB - (-disk * EVICTION_DISK_PERCENT // 100)
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
                f"kernel ({UNSEEN_MEMORY_MIB}Mi and {UNSEEN_MEMORY_PERCENT} %), less {format_memory(kept_memory)} for "
                f"the kubelet (255Mi and 11Mi for each of {machine.eni_pods} pods), less {format_memory(evicted)} at "
                f"which pods are evicted, leaving {format_memory(allocatable[MEMORY])}"
            ),
            (
                f"{machine.name}: a file system of {describe(MEMORY, disk)} on the "
                f"{'instance store' if nvme else 'root disk'}, less {RESERVED_DISK_GIB}Gi for the kubelet and "
                f"{EVICTION_DISK_PERCENT} % at which pods are evicted, "
                f"leaving {describe(MEMORY, allocatable[EPHEMERAL_STORAGE])}"
            ),
            f"{machine.name}: {machine.pods_source} allow {machine.eni_pods} pods"
            + (f", of which a managed node group uses {pods}" if pods < machine.eni_pods else ""),
        ),
    )
