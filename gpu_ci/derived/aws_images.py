"""The content of the machine images on AWS, and the outputs about them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from components.aws.images.image_content import NONE, ImageContent, document
from gpu_ci.knowledge import pins
from gpu_ci.knowledge.software.machine_images import driver_of, ubuntu_parameter
from gpu_ci.stack_file.sections.machine_images import Ec2ImageSettings, EksImageSettings, MachineImageSettings
from gpu_ci.stack_file.sections.machines import OWN, STOCK
from gpu_ci.stack_file.sections.settings import Settings
from gpu_ci.stack_file.values.general import gibibytes

DOCUMENTS: Final = Path(__file__).resolve().parents[2] / "ami"
"""The folder of the documents."""
SAMPLE: Final = "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda11.7.1-ubuntu20.04"
"""NVIDIA's sample that adds two vectors in a kernel, for every driver from branch 450 and every GPU from Maxwell."""
_EKS_RELEASE: Final = "/aws/service/eks/optimized-ami/{0}/amazon-linux-2023/x86_64/nvidia/{1}/image_id"


def eks_base(version: str) -> str:
    """Return the base image: the parameter of one exact release, which AWS never changes."""
    date = pins.EKS_AMI_RELEASES[version].rpartition("-")[2]
    return "ssm:" + _EKS_RELEASE.format(version, f"amazon-eks-node-al2023-x86_64-nvidia-{version}-v{date}")


def eks_content(stated: EksImageSettings, region: str) -> ImageContent:
    """Return the content of the image of EKS nodes. Its driver is that of the base image."""
    driver = driver_of(f"AL2023_x86_64_NVIDIA:{pins.EKS_AMI_RELEASES[stated.version]}")
    constants = _constants(stated, packages=stated.packages, driver=str(driver.branch.number))
    return ImageContent(
        build=_document("eks-gpu/build.yaml", constants),
        test=_document("eks-gpu/test.yaml", constants),
        parent=eks_base(stated.version),
        system="Amazon Linux 2023",
        device="/dev/xvda",
        disk_gib=gibibytes(stated.disk),
        regions=[region],
        number=stated.build,
    )


def ec2_content(stated: Ec2ImageSettings) -> ImageContent:
    """Return the content of the image of GPU machines on EC2."""
    constants = _constants(stated, packages=stated.packages, driver=stated.driver)
    release = stated.os.removeprefix("ubuntu-")
    return ImageContent(
        build=_document("ec2-gpu/build.yaml", constants),
        test=_document("ec2-gpu/test.yaml", constants),
        parent=f"ssm:{ubuntu_parameter(release, stated.serial)}",
        system=f"Ubuntu {release[:2]}",
        device="/dev/sda1",
        disk_gib=gibibytes(stated.disk),
        regions=stated.regions,
        number=stated.build,
    )


def contents(settings: Settings, region: str) -> dict[str, tuple[MachineImageSettings, ImageContent]]:
    """Return the images that the stack builds in its region, with their options, by section."""
    found: dict[str, tuple[MachineImageSettings, ImageContent]] = {}
    if settings.eks_image is not None:
        found["eks-image"] = settings.eks_image, eks_content(settings.eks_image, region)
    if settings.ec2_image is not None:
        found["ec2-image"] = settings.ec2_image, ec2_content(settings.ec2_image)
    return found


def pinned(settings: Settings) -> list[str]:
    """Return the AMIs that pools name, each once."""
    return sorted({pool.image for pool in settings.gpu_pools.values()} - {STOCK, OWN})


def _constants(stated: MachineImageSettings, *, packages: tuple[str, ...], driver: str) -> dict[str, str]:
    return {
        "DRIVER": driver,
        "IMAGES": " ".join(stated.pre_pull) or NONE,
        "PACKAGES": " ".join(packages),
        "SAMPLE": SAMPLE,
        "SYSCTL": " ".join(f"{key}={value}" for key, value in sorted(stated.sysctl.items())) or NONE,
        "TOOLKIT": pins.NVIDIA_CONTAINER_TOOLKIT,
    }


def _document(name: str, constants: Mapping[str, str]) -> str:
    return document((DOCUMENTS / name).read_text(encoding="utf-8"), constants)
