"""Sections of machine images on AWS, which EC2 Image Builder builds and tests on a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from gpu_ci.stack_file.sections.machines import Types
from gpu_ci.stack_file.sections.section import Section
from gpu_ci.stack_file.values.gcp import DriverBranch
from gpu_ci.stack_file.values.general import IMAGE, KubernetesVersion, Matching, Positive, Region, Size, Zone

PinnedImage = Annotated[
    str,
    Field(max_length=280),
    Matching(
        rf"{IMAGE}@sha256:[0-9a-f]{{64}}",
        "an image with its digest",
        "write registry/repository@sha256: and 64 hexadecimal digits, without a tag",
    ),
]
PackageName = Annotated[
    str, Field(max_length=60), Matching(r"[a-z0-9][a-z0-9+.-]+", "a package", "write the name of one package")
]
SysctlKey = Annotated[
    str,
    Field(max_length=80),
    Matching(
        r"[a-z][a-z0-9_]*(\.[a-zA-Z0-9_-]+)+",
        "a kernel parameter",
        "write it with dots, as in fs.inotify.max_user_watches",
    ),
]
Packages = Annotated[tuple[PackageName, ...], Field(min_length=1, max_length=30)]


class MachineImageSettings(Section):
    """An image that EC2 Image Builder builds. It is used only after its tests on a GPU have passed."""

    NEEDS: ClassVar = ("aws",)

    zone: Zone
    """The zone in which the image is built and tested."""
    instance_types: Types = ("g4dn.xlarge",)
    """GPU types of the machine that builds and tests the image, in the order in which they are tried, on demand."""
    disk: Size = "50Gi"
    """The size of the image, which is the smallest root disk of its machines."""
    sysctl: Annotated[Mapping[SysctlKey, Annotated[int, Field(ge=0, le=2**53)]], Field(max_length=20)] = Field(
        default_factory=dict
    )
    """Kernel parameters that are set at every start."""
    pre_pull: Annotated[tuple[PinnedImage, ...], Field(max_length=15)] = ()
    """Container images in the machine image, by digest. A job that uses one of them does not wait for its download."""
    keep: Annotated[int, Field(ge=2, le=20)] = 3
    """The number of images that are kept, this one included. Images in use are kept in addition."""
    build: Positive = 1
    """Raise it to build an image with the same options again, for example for newer packages."""


class EksImageSettings(MachineImageSettings):
    """The image of GPU nodes: that of EKS, with tools and container images. Pools use it by `image: own`."""

    version: KubernetesVersion
    """The Kubernetes version of the EKS image, in quotes. It must be that of the cluster."""
    packages: Packages = ("git", "htop", "jq")
    """Packages of Amazon Linux to install."""


class Ec2ImageSettings(MachineImageSettings):
    """The image of GPU machines on EC2: Ubuntu with driver, Docker, container toolkit, `runner` and `runnerx`."""

    os: Literal["ubuntu-24.04", "ubuntu-22.04"] = "ubuntu-24.04"
    serial: Annotated[
        str, Matching(r"20\d{6}(\.\d{1,2})?", "the serial of an Ubuntu image", 'write it in quotes, as "20261105"')
    ]
    """The release of Canonical's image, in quotes. It is exact, so that a later `pulumi up` does not build again."""
    driver: DriverBranch
    """The driver branch, in quotes, as in "580"."""
    packages: Packages = ("ccache", "git", "htop", "nvtop")
    """Packages of Ubuntu to install."""
    regions: Annotated[tuple[Region, ...], Field(min_length=1, max_length=10)]
    """Regions that get a copy of the image. They include that of the section `aws`, where it is built."""
