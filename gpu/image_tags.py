"""Container images: which CUDA, which torch an image reference promises, and how long NVIDIA keeps its tags.

nvidia/cuda: tag forms from NVIDIA's image repository (2025-12) and tags in public use by October 2026. Its support
policy (gitlab.com/nvidia/container-images/cuda, issue 177 and doc/support-policy.md): an image ends when a newer point
release of its CUDA version appears, or when the last supported driver for it ends; six months later its tags are
deleted. pytorch/pytorch: tags in public use by October 2026. The GitHub runner image has no CUDA at all. Nothing is
promised by the name of any other image; whoever builds it states its CUDA.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cache

from gpu.cuda import Toolkit, toolkit
from gpu.drivers import BRANCHES
from gpu.frameworks import TorchBuild, torch
from gpu.nearest import UnknownName
from gpu.versions import dotted


class Origin(StrEnum):
    """Who makes an image."""

    NVIDIA_CUDA = "nvidia/cuda"
    PYTORCH = "pytorch/pytorch"
    GITHUB_RUNNER = "actions/actions-runner"
    OTHER = "other"


OPERATING_SYSTEMS = (
    "ubuntu18.04", "ubuntu20.04", "ubuntu22.04", "ubuntu24.04", "ubuntu26.04", "rockylinux8", "rockylinux9",
    "rockylinux10", "ubi8", "ubi9", "ubi10", "amzn2023", "opensuse15", "oraclelinux8", "oraclelinux9", "cm2", "azl3",
)  # fmt: skip
"""Systems that nvidia/cuda is built on."""
FLAVOURS = ("base", "runtime", "devel")

_REFERENCE = re.compile(r"(?P<name>[^@]+?)(?::(?P<tag>[\w][\w.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?")
_NVIDIA = re.compile(r"(?P<cuda>\d+\.\d+\.\d+)(?:-(?P<cudnn>cudnn\d*))?-(?P<flavour>[a-z]+)-(?P<system>[a-z]+[\d.]*)")
_PYTORCH = re.compile(
    r"(?P<torch>\d+\.\d+\.\d+)-cuda(?P<major>\d+)\.(?P<minor>\d+)-cudnn(?P<cudnn>\d+)-(?P<flavour>[a-z]+)"
)
_EXAMPLES = {
    Origin.NVIDIA_CUDA: "12.9.2-cudnn-runtime-ubuntu24.04",
    Origin.PYTORCH: "2.14.1-cuda13.0-cudnn9-runtime",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerImage:
    """What the reference of a container image promises."""

    reference: str
    origin: Origin
    cuda: Toolkit | None = None
    """The CUDA libraries in it; none where there are none, or where the reference does not say."""
    point: str | None = None
    """The exact point release, as in `12.9.1`."""
    torch: TorchBuild | None = None
    digest: str | None = None


def _tag(reference: str, origin: Origin, pattern: re.Pattern[str], tag: str | None) -> re.Match[str]:
    found = pattern.fullmatch(tag or "")
    if not found:
        raise UnknownName(f"tag of {origin}", tag or reference, [_EXAMPLES[origin]])
    if found["flavour"] not in FLAVOURS:
        raise UnknownName(f"flavour of {origin}", found["flavour"], FLAVOURS)
    return found


@cache
def container_image(reference: str) -> ContainerImage:
    """What `[registry/]name[:tag][@digest]` promises.

    A tag that NVIDIA or PyTorch never made is an error; an image of anybody else's simply promises nothing.
    """
    parts = _REFERENCE.fullmatch(reference)
    if not parts:
        raise UnknownName("image reference", reference, _EXAMPLES.values())
    path = "/".join(parts["name"].split("/")[-2:])
    origin = next((one for one in Origin if one == path), Origin.OTHER)
    tag, digest = parts["tag"], parts["digest"]
    if origin is Origin.NVIDIA_CUDA:
        found = _tag(reference, origin, _NVIDIA, tag)
        if found["system"] not in OPERATING_SYSTEMS:
            raise UnknownName(f"system of {origin}", found["system"], OPERATING_SYSTEMS)
        return ContainerImage(
            reference=reference, origin=origin, cuda=toolkit(found["cuda"]), point=found["cuda"], digest=digest
        )
    if origin is Origin.PYTORCH:
        found = _tag(reference, origin, _PYTORCH, tag)
        build = torch(f"{found['torch']}+cu{found['major']}{found['minor']}")
        return ContainerImage(
            reference=reference, origin=origin, cuda=toolkit(dotted(build.cuda)), torch=build, digest=digest
        )
    return ContainerImage(reference=reference, origin=origin, digest=digest)


def superseded(image: ContainerImage) -> bool:
    """Whether a newer point release of the same CUDA version has ended an nvidia/cuda image."""
    return image.cuda is not None and image.point is not None and image.point != image.cuda.newest


def ends(image: ContainerImage) -> date | None:
    """When the last driver branch of an nvidia/cuda image's own CUDA generation ends, and the image with it."""
    if image.origin is not Origin.NVIDIA_CUDA or image.cuda is None:
        return None
    major = image.cuda.version[0]
    return max(branch.ends for branch in BRANCHES.values() if branch.cuda[0] == major and branch.ends is not None)


def deleted_from(end: date) -> date:
    """When the tags of an image that ended on that day may be deleted: six months later."""
    year, month = end.year + (end.month + 5) // 12, (end.month + 5) % 12 + 1
    return date(year, month, min(end.day, monthrange(year, month)[1]))
