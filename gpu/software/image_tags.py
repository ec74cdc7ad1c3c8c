"""Container images: which CUDA, which torch an image reference promises, and how long NVIDIA keeps its tags.

nvidia/cuda: forms of tags, their cuDNN and their Ubuntu releases from the lists of supported and unsupported tags in
NVIDIA's image repository (2025-12); Ubuntu 26.04 from tags in public use by October 2026. Its support policy
(gitlab.com/nvidia/container-images/cuda, issue 177 and doc/support-policy.md): an image ends when a newer point
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
from types import MappingProxyType
from typing import TYPE_CHECKING

from gpu.nearest import UnknownName, nearest
from gpu.software.cuda import TOOLKITS, Toolkit, toolkit
from gpu.software.drivers import BRANCHES
from gpu.software.frameworks import TorchBuild, torch
from gpu.software.versions import UnknownVersion, dotted, parse

if TYPE_CHECKING:
    from collections.abc import Mapping


class Origin(StrEnum):
    """Who makes an image."""

    NVIDIA_CUDA = "nvidia/cuda"
    PYTORCH = "pytorch/pytorch"
    GITHUB_RUNNER = "actions/actions-runner"
    OTHER = "other"


_UBUNTU: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]] = MappingProxyType(
    {
        "ubuntu18.04": ((11, 0), (12, 1)),
        "ubuntu20.04": ((11, 0), (12, 9)),
        "ubuntu22.04": ((11, 7), ()),
        "ubuntu24.04": ((12, 5, 1), ()),
        "ubuntu26.04": ((13, 3), ()),
    }
)
"""The first and the last CUDA version that nvidia/cuda is built with on an Ubuntu; empty while that is open."""
OPERATING_SYSTEMS = (
    *_UBUNTU, "rockylinux8", "rockylinux9", "rockylinux10", "ubi8", "ubi9", "ubi10", "amzn2023", "opensuse15",
    "oraclelinux8", "oraclelinux9", "cm2", "azl3",
)  # fmt: skip
"""Systems that nvidia/cuda is built on; of those that are not Ubuntu it is not known since when."""
FLAVOURS = ("base", "runtime", "devel")
_WITH_CUDNN = ("runtime", "devel")

_REFERENCE = re.compile(r"(?P<name>[^@]+?)(?::(?P<tag>[\w][\w.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?")
_NVIDIA = re.compile(r"\d+\.\d+\.\d+(-cudnn\d*)?-[a-z]+-[a-z]+[\d.]*")
_CUDA = re.compile(r"\d+\.\d+(\.\d+)?(?=-|$)")
_NVIDIAS = ("", "docker.io", "index.docker.io", "nvcr.io")
"""The registries from which NVIDIA publishes; without one Docker's own is meant."""
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
    kept: bool = False
    """Whether it lies in a registry that NVIDIA deletes nothing from."""


def _cudnn(version: tuple[int, ...]) -> str:
    """How the images with cuDNN are called."""
    if version >= (12, 4):
        return "cudnn"
    return "cudnn9" if version >= (12, 3) else "cudnn8"


def _is_built_on(system: str, version: tuple[int, ...]) -> bool:
    first, last = _UBUNTU.get(system, ((), ()))
    return version >= first and (not last or version[:2] <= last)


def nvidia_tags(point: str) -> tuple[str, ...]:
    """The tags that nvidia/cuda has of one point release, as of `12.9.1`."""
    version = parse(point)
    kinds = (*FLAVOURS, *(f"{_cudnn(version)}-{flavour}" for flavour in _WITH_CUDNN))
    return tuple(
        f"{point}-{kind}-{system}" for system in OPERATING_SYSTEMS if _is_built_on(system, version) for kind in kinds
    )


def _point_release(tag: str) -> str | None:
    """The point release that a tag begins with, or the nearest one; none where it begins with no version."""
    stated = _CUDA.match(tag)
    if stated is None:
        return None
    version = stated[0]
    try:
        toolkit(version)
    except UnknownVersion as fault:
        version = fault.nearest or version
    return version if version.count(".") > 1 else toolkit(version).newest


def _nvidia(reference: str, tag: str | None) -> tuple[Toolkit, str]:
    """The toolkit and the point release of a tag of nvidia/cuda."""
    point = _point_release(tag or "")
    known = nvidia_tags(point) if point else tuple(tag for row in TOOLKITS.values() for tag in nvidia_tags(row.newest))
    if tag is None or point is None or tag not in known:
        plain = [one for one in known if point and "-base-ubuntu" in one] or [_EXAMPLES[Origin.NVIDIA_CUDA]]
        near = nearest(tag, known) if tag else None
        raise UnknownName(f"tag of {Origin.NVIDIA_CUDA}", tag or reference, [near or plain[-1]])
    return toolkit(point), point


def _tag(reference: str, origin: Origin, pattern: re.Pattern[str], tag: str | None) -> re.Match[str]:
    found = pattern.fullmatch(tag or "")
    if not found:
        raise UnknownName(f"tag of {origin}", tag or reference, [_EXAMPLES[origin]])
    if found["flavour"] not in FLAVOURS:
        raise UnknownName(f"flavour of {origin}", found["flavour"], FLAVOURS)
    return found


def _split(name: str) -> tuple[str, str]:
    """The registry of a name, and the path in it."""
    first, slash, rest = name.partition("/")
    return (first, rest) if slash and (first == "localhost" or set(".:") & set(first)) else ("", name)


def _origin(registry: str, path: str, tag: str | None, digest: str | None) -> Origin:
    """Whose image it is. A digest alone says nothing; a copy is known by its name and by the form of its tag."""
    *_, owner, name = ("", *path.split("/"))
    if registry not in _NVIDIAS and name == "cuda":
        return Origin.NVIDIA_CUDA if tag and _NVIDIA.fullmatch(tag) else Origin.OTHER
    found = next((one for one in Origin if one == f"{owner}/{name}"), Origin.OTHER)
    says_nothing = digest is not None and tag is None and found is not Origin.GITHUB_RUNNER
    return Origin.OTHER if says_nothing else found


def cuda_base(stated: str) -> str:
    """The reference of a base image that is stated by a tag of nvidia/cuda, or as a whole where a copy of it lies."""
    return stated if "/" in stated else f"nvidia/cuda:{stated}"


@cache
def container_image(reference: str) -> ContainerImage:
    """What `[registry/]name[:tag][@digest]` promises.

    A tag that NVIDIA or PyTorch never made is an error; an image of anybody else's simply promises nothing, nor does a
    digest alone.
    """
    parts = _REFERENCE.fullmatch(reference)
    if not parts:
        raise UnknownName("image reference", reference, _EXAMPLES.values())
    registry, path = _split(parts["name"])
    tag, digest = parts["tag"], parts["digest"]
    origin = _origin(registry, path, tag, digest)
    if origin is Origin.NVIDIA_CUDA:
        known, point = _nvidia(reference, tag)
        kept = registry not in _NVIDIAS
        return ContainerImage(reference=reference, origin=origin, cuda=known, point=point, digest=digest, kept=kept)
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


def newest_of(image: ContainerImage) -> ContainerImage | None:
    """The same nvidia/cuda image of the newest point release, where the name has a tag to say so."""
    if image.cuda is None or image.point is None:
        return None
    name, _, tag = image.reference.partition("@")[0].rpartition(":")
    return container_image(f"{name}:{tag.replace(image.point, image.cuda.newest, 1)}")


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
