"""Machine images that bring an NVIDIA driver: its version, and its kernel modules.

EKS: awslabs/amazon-eks-ami release v20260714. Its images have one driver and choose the kernel module at boot by the
instance type. Later releases (from v20260917) have two drivers and are not listed. DLAMI: AWS's release notes of the
Base OSS images, 2026-10; for Amazon Linux 2023 those for arm64, which name the branch. A parameter of the DLAMI always
means the newest image; the driver is that of 2026-10. Ubuntu's own images have no driver: their names here contain the
branch that the first boot, or the build of an own image, installs with open kernel modules.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from gpu_ci.knowledge.nearest import UnknownName
from gpu_ci.knowledge.software.architectures import KernelModule
from gpu_ci.knowledge.software.drivers import Driver, branch, open_ubuntu_driver
from gpu_ci.knowledge.software.versions import parse


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineImage:
    """One machine image."""

    name: str
    driver: str
    """An exact version, or a branch."""
    module: KernelModule | None = None
    """Its only kernel module; none where it has both and chooses at boot."""


_UBUNTU_VOLUMES = MappingProxyType({"22.04": "ebs-gp2", "24.04": "ebs-gp3"})
"""The volume type in the name of Canonical's parameters, by release (Ubuntu on AWS, "Find an AMI", 2026)."""


def ubuntu_parameter(release: str, serial: str = "current") -> str:
    """Return Canonical's public SSM parameter with the AMI of an Ubuntu release, for example `24.04`."""
    return f"/aws/service/canonical/ubuntu/server/{release}/stable/{serial}/amd64/hvm/{_UBUNTU_VOLUMES[release]}/ami-id"


_DLAMI = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-{}/latest/ami-id"
_ROWS = (
    MachineImage(name="AL2023_x86_64_NVIDIA:20260714", driver="580.159.03"),
    *(
        MachineImage(name=_DLAMI.format(system), driver=number, module=KernelModule.OPEN)
        for system, number in (
            ("ubuntu-22.04", "595.91.07"),
            ("ubuntu-24.04", "595.91.07"),
            ("amazon-linux-2023", "595"),
        )
    ),
)
MACHINE_IMAGES = MappingProxyType({row.name: row for row in _ROWS})
"""Every image by its AMI type and release date, or by the public parameter that names it."""

_UBUNTU = re.compile(r"ubuntu-\d\d\.\d\d with driver (\d{3})")


def on_ubuntu(system: str, driver: str) -> str:
    """Return the name of Ubuntu with a driver branch that is installed on it, for example `580` on `ubuntu-24.04`."""
    return f"{system} with driver {driver}"


def states_a_branch(name: str) -> bool:
    """Return whether the stack file states the driver branch of the image, and not an image that has a driver."""
    return _UBUNTU.fullmatch(name) is not None


_KUBERNETES_VERSION = re.compile(r"(?<=:)\d+\.\d+\.\d+-(?=\d{8}$)")


@cache
def driver_of(name: str) -> Driver:
    """Return the driver of a machine image, for example of `AL2023_x86_64_NVIDIA:1.35.6-20260714`.

    The images of all Kubernetes versions in an EKS release have the same driver.

    Raises:
        UnknownName: the image is not in the table, or there is no such driver branch.

    """
    if found := _UBUNTU.fullmatch(name):
        return open_ubuntu_driver(found[1])
    try:
        image = MACHINE_IMAGES[_KUBERNETES_VERSION.sub("", name)]
    except KeyError:
        raise UnknownName("machine image", name, MACHINE_IMAGES) from None
    parts = parse(image.driver)
    return Driver(
        name=f"{image.driver} of {image.name}",
        branch=branch(parts[0]),
        version=parts if len(parts) > 1 else None,
        module=image.module,
    )
