"""EC2 instance types: CPU, memory, GPU, disk, and the number of pods that the network interfaces can serve.

The answers of DescribeInstanceTypes of us-east-1 that moto 5.2.5 (October 2026) records; interfaces and addresses are
those of the default network card. p3: the Cluster Autoscaler's static list (`ec2_instance_types.go`) and Karpenter
v1.14.1 (`zz_generated.vpclimits.go`, August 2026). Types without a GPU are in `gpu_ci.knowledge.machines.aws_families`,
prices in `gpu_ci.knowledge.cost.prices_aws`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType

from gpu_ci.knowledge.machines.aws_families import general_purpose
from gpu_ci.knowledge.machines.models import GPU_MODELS, GpuModel
from gpu_ci.knowledge.nearest import UnknownName


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
    stated: bool = False
    """True if the stack file states these facts."""
    stated_pods: int = 0
    """The number of pods with an address where it is stated; otherwise it follows from the interfaces."""
    hour: Decimal | None = None
    """The stated price of an hour on demand."""
    quota_family: str = ""
    """The stated quota family, a key of `gpu_ci.knowledge.quotas.aws.FAMILIES`; otherwise it follows from the name."""

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
        return self.stated_pods or self.enis * (self.addresses - 1) + 2

    @property
    def pods_source(self) -> str:
        """The facts from which the number of pods follows."""
        if self.stated_pods:
            return "the addresses as stated"
        return f"{self.enis} interfaces of {self.addresses} addresses"

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
_BLACKWELL = """
g7e.2xlarge 8 64 1 4 64 1900
g7e.4xlarge 16 128 1 8 64 1900
g7e.8xlarge 32 256 1 8 64 1900
g7e.12xlarge 48 512 2 10 64 3800
g7e.24xlarge 96 1024 4 10 64 7600
g7e.48xlarge 192 2048 8 10 64 15200
"""

_TYPES = [
    *_gpu("t4", _T4),
    *_gpu("a10g", _A10G),
    *_gpu("l4", _L4),
    *_gpu("l40s", _L40S),
    *_gpu("rtx-pro-6000", _BLACKWELL),
    *_gpu("v100", _V100),
    *_gpu("v100-32gb", "p3dn.24xlarge 96 768 8 15 50 1800"),
    *_gpu("a100", "p4d.24xlarge 96 1152 8 15 50 8000"),
    *_gpu("a100-80gb", "p4de.24xlarge 96 1152 8 15 50 8000"),
    *_gpu("h100", "p5.4xlarge 16 256 1 4 30 3800\np5.48xlarge 192 2048 8 2 50 30400"),
    *_gpu("h200", "p5e.48xlarge 192 2048 8 2 50 30400\np5en.48xlarge 192 2048 8 4 50 30400"),
    *_gpu("b200", "p6-b200.48xlarge 192 2048 8 4 50 30400"),
    *_gpu("b300", "p6-b300.48xlarge 192 4096 8 4 50 30400"),
    *(
        InstanceType(name=name, vcpus=vcpus, memory_mib=memory_mib, enis=enis, addresses=addresses)
        for name, vcpus, memory_mib, enis, addresses in general_purpose()
    ),
]

EC2_TYPES = MappingProxyType({found.name: found for found in _TYPES})
"""Every instance type by its name."""


_UNSUITABLE = (
    (r"(a1|[a-z]+\d+g[a-z]*|p6e-gb\d+)", "has an arm64 processor, but node images and GPU images are for x86_64"),
    (r"g4ad", "has a GPU of AMD, but drivers and images are for NVIDIA"),
    (r"(inf|trn|dl|vt)\w+", "has no NVIDIA GPU"),
    (r"g7", "needs driver 595, which the node images of EKS do not have (AWS, EKS AMI releases, 2026)"),
    (r"(g2|g3s?|p2)", "has a GPU that CUDA 12 toolkits do not support"),
    (r"mac.*", "runs macOS"),
)
"""Families, as a pattern, that cannot run a job or a node, and the reason."""


def unsuitable(name: str) -> str:
    """Return why no instance type of that family is supported; empty where none is known."""
    family = name.partition(".")[0]
    return next((reason for families, reason in _UNSUITABLE if re.fullmatch(families, family)), "")


def ec2_type(name: str) -> InstanceType:
    """Return the instance type of that name.

    Raises:
        UnknownName: there is no such type.

    """
    try:
        return EC2_TYPES[name]
    except KeyError:
        raise UnknownName("EC2 instance type", name, EC2_TYPES) from None
