"""The sizes of EC2's families without a GPU: vCPUs, memory, interfaces and addresses.

The answers of DescribeInstanceTypes of us-east-1 that moto 5.2.5 (October 2026) records, without metal sizes and
families with an instance store.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_MEDIUM: Final = "medium 1 2 4, "
_SMALL: Final = "large 2 3 10, xlarge 4 4 15, 2xlarge 8 4 15, 4xlarge 16 8 30, "
_TO_16: Final = f"{_SMALL}8xlarge 32 8 30, 12xlarge 48 8 30, 16xlarge 64 15 50"
_TO_24: Final = f"{_TO_16}, 24xlarge 96 15 50"
_TO_32: Final = f"{_TO_24}, 32xlarge 128 15 50"
_INTEL_8: Final = (
    "large 2 3 20, xlarge 4 4 30, 2xlarge 8 4 30, 4xlarge 16 8 50, 8xlarge 32 10 50, 12xlarge 48 12 50, "
    "16xlarge 64 16 64"
)
_AMD_8: Final = (
    f"{_MEDIUM}large 2 3 20, xlarge 4 4 20, 2xlarge 8 4 40, 4xlarge 16 8 40, 8xlarge 32 10 40, 12xlarge 48 12 64, "
    "16xlarge 64 16 64, 24xlarge 96 16 64, 48xlarge 192 24 64"
)
_FAMILIES: Final = {
    "m5 4, m5a 4, m5n 4, c5a 2, r5 8, r5a 8, r5n 8, r5b 8": _TO_24,
    "m5zn 4": f"{_SMALL.partition('4xlarge')[0]}3xlarge 12 8 30, 6xlarge 24 8 30, 12xlarge 48 15 50",
    "m6i 4, c6i 2, r6i 8": _TO_32,
    "m6a 4, c6a 2, r6a 8": f"{_TO_32}, 48xlarge 192 15 50",
    "m6in 4, c6in 2, r6in 8": f"{_TO_24}, 32xlarge 128 8 50",
    "m7i 4, c7i 2, r7i 8": f"{_TO_24}, 48xlarge 192 15 50",
    "m7i-flex 4, c7i-flex 2": _TO_16,
    "m7a 4, c7a 2, r7a 8": f"{_MEDIUM}{_TO_32}, 48xlarge 192 15 50",
    "m8i 4, c8i 2, r8i 8": (
        f"{_INTEL_8}, 24xlarge 96 16 64, 32xlarge 128 24 64, 48xlarge 192 24 64, 96xlarge 384 24 64"
    ),
    "m8i-flex 4, c8i-flex 2, r8i-flex 8": _INTEL_8,
    "m8a 4, c8a 2, r8a 8": _AMD_8,
    "c5 2": f"{_SMALL}9xlarge 36 8 30, 12xlarge 48 8 30, 18xlarge 72 15 50, 24xlarge 96 15 50",
}
"""Families with their GiB of memory for each vCPU, to their sizes: vCPUs, interfaces, addresses of one interface."""
_BURSTABLE: Final = {
    "t2": "nano 1 512 2 2, micro 1 1024 2 2, small 1 2048 3 4, medium 2 4096 3 6, large 2 8192 3 12, "
    "xlarge 4 16384 3 15, 2xlarge 8 32768 3 15",
    "t3": "nano 2 512 2 2, micro 2 1024 2 2, small 2 2048 3 4, medium 2 4096 3 6, large 2 8192 3 12, "
    "xlarge 4 16384 4 15, 2xlarge 8 32768 4 15",
    "t3a": "nano 2 512 2 2, micro 2 1024 2 2, small 2 2048 2 4, medium 2 4096 3 6, large 2 8192 3 12, "
    "xlarge 4 16384 4 15, 2xlarge 8 32768 4 15",
}
"""Families whose memory is not in proportion: vCPUs, MiB, interfaces, addresses of one interface."""


def general_purpose() -> Iterator[tuple[str, int, int, int, int]]:
    """Yield each type: its name, vCPUs, memory in MiB, interfaces, and addresses of one interface."""
    for families, sizes in _FAMILIES.items():
        for family, gib in (row.split() for row in families.split(", ")):
            for size, vcpus, enis, addresses in (row.split() for row in sizes.split(", ")):
                yield f"{family}.{size}", int(vcpus), int(vcpus) * int(gib) * 1024, int(enis), int(addresses)
    for family, sizes in _BURSTABLE.items():
        for size, vcpus, mib, enis, addresses in (row.split() for row in sizes.split(", ")):
            yield f"{family}.{size}", int(vcpus), int(mib), int(enis), int(addresses)
