"""EC2 instance types: CPU, memory, GPU, disk, and the number of pods that the network interfaces can serve.

Interfaces and addresses: Karpenter v1.14.1 (August 2026), `zz_generated.vpclimits.go`, of the default network card.
vCPU, memory, GPU and NVMe: Karpenter's instance-types page (2026), which prints DescribeInstanceTypes; p3, m6i and m6a
from the Cluster Autoscaler's static list (`ec2_instance_types.go`). The rows of m5, m7i, m7i-flex and c7i are general
knowledge that was not read in a source. Prices are in `gpu.cost.prices_aws`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from gpu.machines.models import GPU_MODELS, GpuModel
from gpu.nearest import UnknownName


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceType:
    """One EC2 instance type."""

    name: str
    vcpus: int
    memory_mib: int
    """The memory that EC2 sells; the operating system sees less."""
    enis: int
    """Interfaces of the default network card."""
    addresses: int
    """IPv4 addresses of one interface."""
    gpu: GpuModel | None = None
    gpus: int = 0
    """Whole GPUs as in DescribeInstanceTypes; 0 for a fraction of a GPU."""
    gpu_memory_mib: int = 0
    """Memory of one GPU, or of the fraction."""
    nvme_gb: int = 0
    """The size of all instance-store volumes together, in decimal gigabytes."""

    @property
    def fractional(self) -> bool:
        """True if it has only a part of a GPU."""
        return self.gpu is not None and self.gpus == 0

    @property
    def devices(self) -> int:
        """The number of GPUs that a driver sees; a fraction counts as one."""
        return 1 if self.fractional else self.gpus

    @property
    def eni_pods(self) -> int:
        """The number of pods with an address: each interface keeps one address, and two pods use those of the host."""
        return self.enis * (self.addresses - 1) + 2

    @property
    def family(self) -> str:
        """The part of the name before the dot."""
        return self.name.partition(".")[0]


def _gpu(slug: str, rows: str) -> list[InstanceType]:
    """Parse rows of `name vcpus memory(GiB) gpus enis addresses nvme [fraction's memory]` of one GPU model."""
    model = GPU_MODELS[slug]
    found: list[InstanceType] = []
    for line in rows.strip().splitlines():
        name, vcpus, memory, gpus, enis, addresses, nvme, *rest = line.split()
        found.append(
            InstanceType(
                name=name, vcpus=int(vcpus), memory_mib=int(memory) * 1024, enis=int(enis), addresses=int(addresses),
                gpu=model, gpus=int(gpus), gpu_memory_mib=int(rest[0]) if rest else model.memory_mib,
                nvme_gb=int(nvme),
            )
        )  # fmt: skip
    return found


def _ladder(family: str, gib_per_vcpu: int) -> list[InstanceType]:
    """Return the types of a general-purpose family; all families have the same sizes and interfaces."""
    ladder = {
        "large": (2, 3, 10), "xlarge": (4, 4, 15), "2xlarge": (8, 4, 15), "4xlarge": (16, 8, 30),
        "8xlarge": (32, 8, 30), "12xlarge": (48, 8, 30),
    }  # fmt: skip
    return [
        InstanceType(
            name=f"{family}.{size}", vcpus=ladder[size][0], memory_mib=ladder[size][0] * gib_per_vcpu * 1024,
            enis=ladder[size][1], addresses=ladder[size][2],
        )
        for size in ladder
    ]  # fmt: skip


_T4 = """
g4dn.xlarge 4 16 1 3 10 125
g4dn.2xlarge 8 32 1 3 10 225
g4dn.4xlarge 16 64 1 3 10 225
g4dn.8xlarge 32 128 1 4 15 900
g4dn.12xlarge 48 192 4 8 30 900
g4dn.16xlarge 64 256 1 4 15 900
g4dn.metal 96 384 8 15 50 1800
"""
_A10G = """
g5.xlarge 4 16 1 4 15 250
g5.2xlarge 8 32 1 4 15 450
g5.4xlarge 16 64 1 8 30 600
g5.8xlarge 32 128 1 8 30 900
g5.12xlarge 48 192 4 15 50 3800
g5.16xlarge 64 256 1 8 30 1900
g5.24xlarge 96 384 4 15 50 3800
g5.48xlarge 192 768 8 7 50 7600
"""
_L4 = """
g6.xlarge 4 16 1 4 15 250
g6.2xlarge 8 32 1 4 15 450
g6.4xlarge 16 64 1 8 30 600
g6.8xlarge 32 128 1 8 30 900
g6.12xlarge 48 192 4 8 30 3760
g6.16xlarge 64 256 1 15 50 1880
g6.24xlarge 96 384 4 15 50 3760
g6.48xlarge 192 768 8 15 50 7520
gr6.4xlarge 16 128 1 8 30 600
gr6.8xlarge 32 256 1 8 30 900
g6f.large 2 8 0 2 10 100 2861
g6f.xlarge 4 16 0 4 15 100 2861
g6f.2xlarge 8 32 0 4 15 200 5722
g6f.4xlarge 16 64 0 8 30 450 11444
gr6f.4xlarge 16 128 0 8 30 450 11444
"""
_L40S = """
g6e.xlarge 4 32 1 4 15 250
g6e.2xlarge 8 64 1 4 15 450
g6e.4xlarge 16 128 1 8 30 600
g6e.8xlarge 32 256 1 8 30 900
g6e.12xlarge 48 384 4 10 30 3800
g6e.16xlarge 64 512 1 15 50 1900
g6e.24xlarge 96 768 4 10 50 3800
g6e.48xlarge 192 1536 8 10 50 7600
"""
_V100 = """
p3.2xlarge 8 61 1 4 15 0
p3.8xlarge 32 244 4 8 30 0
p3.16xlarge 64 488 8 8 30 0
"""

_T3 = {
    "nano": (2, 512, 2, 2), "micro": (2, 1024, 2, 2), "small": (2, 2048, 3, 4),
    "medium": (2, 4096, 3, 6), "large": (2, 8192, 3, 12), "xlarge": (4, 16384, 4, 15),
    "2xlarge": (8, 32768, 4, 15),
}  # fmt: skip

_TYPES = [
    *_gpu("t4", _T4),
    *_gpu("a10g", _A10G),
    *_gpu("l4", _L4),
    *_gpu("l40s", _L40S),
    *_gpu("rtx-pro-6000", "g7e.2xlarge 8 64 1 4 64 1900"),
    *_gpu("v100", _V100),
    *_gpu("v100-32gb", "p3dn.24xlarge 96 768 8 15 50 1800"),
    *_gpu("a100", "p4d.24xlarge 96 1152 8 15 50 8000"),
    *_gpu("h100", "p5.4xlarge 16 256 1 4 30 3800\np5.48xlarge 192 2048 8 2 50 30400"),
    *(
        InstanceType(name=f"t3.{size}", vcpus=vcpus, memory_mib=memory, enis=enis, addresses=addresses)
        for size, (vcpus, memory, enis, addresses) in _T3.items()
    ),
    *_ladder("m6i", 4),
    *_ladder("m6a", 4),
    *_ladder("m5", 4),
    *_ladder("m7i", 4),
    *_ladder("m7i-flex", 4),
    *_ladder("c7i", 2),
]

EC2_TYPES = MappingProxyType({found.name: found for found in _TYPES})
"""Every instance type by its name."""


def ec2_type(name: str) -> InstanceType:
    """Return the instance type of that name.

    Raises:
        UnknownName: there is no such type.

    """
    try:
        return EC2_TYPES[name]
    except KeyError:
        raise UnknownName("EC2 instance type", name, EC2_TYPES) from None
