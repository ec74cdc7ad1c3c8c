"""Machine images that carry an NVIDIA driver: which one, and with which kernel modules.

EKS: awslabs/amazon-eks-ami release v20260714; until v20260917 an image had one driver and chose its module at boot
by the instance type, since then it carries two drivers and chooses one of them, which is why later releases are not
listed. Bottlerocket: bottlerocket.dev, GPU driver versions of 1.49.0 and 1.68.0 (Kubernetes 1.34 to 1.36).
DLAMI: AWS's release notes of the Base OSS images, 2026-10; of the one on Amazon Linux 2023 those for arm64, which name
the branch. Google: ubuntu-os-accelerator-images families, and
compute-gpu-installation 1.9.1 (2026-08-05), whose installer takes a branch.
Which instance types an image supports beyond what its driver can drive is not known here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from gpu.nearest import UnknownName
from gpu.software.architectures import KernelModule
from gpu.software.drivers import Driver, branch
from gpu.software.versions import parse


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineImage:
    """One machine image, or a family that always means its newest image."""

    name: str
    driver: str
    """An exact version, or a branch."""
    module: KernelModule | None = None
    """The only kernel module in it; none where it has both and chooses at boot."""
    moving: bool = False
    """Whether the name follows the newest release, so that the driver can change without a change here."""


_DLAMI = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-{}/latest/ami-id"
_ROWS = (
    MachineImage(name="AL2023_x86_64_NVIDIA:20260714", driver="580.159.03"),
    MachineImage(name="BOTTLEROCKET_x86_64_NVIDIA:1.49.0", driver="580.95.05"),
    MachineImage(name="BOTTLEROCKET_x86_64_NVIDIA:1.68.0", driver="580.178.04"),
    *(
        MachineImage(name=_DLAMI.format(system), driver=number, module=KernelModule.OPEN, moving=True)
        for system, number in (
            ("ubuntu-22.04", "595.91.07"),
            ("ubuntu-24.04", "595.91.07"),
            ("amazon-linux-2023", "595"),
        )
    ),
    *(
        MachineImage(name=f"ubuntu-accelerator-{release}-amd64-with-nvidia-{number}", driver=str(number), moving=True)
        for release, number in (("2204", 550), ("2204", 580), ("2404", 580))
    ),
    MachineImage(name="cuda-installer-1.9.1:lts", driver="580.159.04"),
    MachineImage(name="cuda-installer-1.9.1:prod", driver="595.84"),
    MachineImage(name="cuda-installer-1.9.1:nfb", driver="610.43.02"),
)
MACHINE_IMAGES = MappingProxyType({row.name: row for row in _ROWS})
"""Every image by the name that this project gives it."""

_EKS_NAME = re.compile(r"amazon-eks-node-al2023-x86_64-nvidia-\d+\.\d+-v(?P<day>\d{8})")
_EKS_RELEASE = re.compile(r"AL2023_x86_64_NVIDIA:\d+\.\d+\.\d+-(?P<day>\d{8})")
_SSM = "resolve:ssm:"


def _canonical(name: str) -> str:
    for pattern in (_EKS_NAME, _EKS_RELEASE):
        if found := pattern.fullmatch(name):
            return f"AL2023_x86_64_NVIDIA:{found['day']}"
    return name.removeprefix(_SSM)


@cache
def machine_image(name: str) -> MachineImage:
    """The image of that name.

    `AL2023_x86_64_NVIDIA:1.35.6-20260714` and `amazon-eks-node-al2023-x86_64-nvidia-1.35-v20260714` are the same
    image; an SSM parameter may be written as `resolve:ssm:/…`.
    """
    try:
        return MACHINE_IMAGES[_canonical(name)]
    except KeyError:
        raise UnknownName("machine image", name, MACHINE_IMAGES) from None


@cache
def driver_of(image: MachineImage) -> Driver:
    """The driver that an image carries."""
    parts = parse(image.driver)
    return Driver(
        name=f"{image.driver} of {image.name}",
        branch=branch(parts[0]),
        version=parts if len(parts) > 1 else None,
        module=image.module,
    )
