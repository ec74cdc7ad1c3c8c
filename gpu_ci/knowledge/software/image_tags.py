"""Container images: the CUDA and torch versions that an image reference names, and how long NVIDIA keeps its tags.

nvidia/cuda: forms of tags, their cuDNN and their Ubuntu releases from the lists of supported and unsupported tags in
NVIDIA's image repository (2025-12); Ubuntu 26.04 from tags in public use by October 2026. Its support policy
(gitlab.com/nvidia/container-images/cuda, issue 177 and doc/support-policy.md): the life of an image ends when a newer
point release of its CUDA version appears, or with the last supported driver for it; six months later its tags are
deleted. pytorch/pytorch: tags in public use by October 2026. The GitHub runner image has no CUDA. The names of other
images say nothing; the stack file states their CUDA.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cache
from types import MappingProxyType

from gpu_ci.knowledge.nearest import UnknownName, nearest
from gpu_ci.knowledge.software.cuda import TOOLKITS, Toolkit, toolkit
from gpu_ci.knowledge.software.drivers import BRANCHES
from gpu_ci.knowledge.software.frameworks import TorchBuild, torch
from gpu_ci.knowledge.software.versions import UnknownVersion, dotted, parse


class Origin(StrEnum):
    """The publisher of an image."""

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
"""Ubuntu release to the first and last CUDA version of its nvidia/cuda images; empty where there is no last one yet."""
OPERATING_SYSTEMS = (
    *_UBUNTU, "rockylinux8", "rockylinux9", "rockylinux10", "ubi8", "ubi9", "ubi10", "amzn2023", "opensuse15",
    "oraclelinux8", "oraclelinux9", "cm2", "azl3",
)  # fmt: skip
"""Systems with nvidia/cuda images; the first version for each that is not Ubuntu is not known."""
FLAVOURS = ("base", "runtime", "devel")
_WITH_CUDNN = ("runtime", "devel")

_REFERENCE = re.compile(r"(?P<name>[^@]+?)(?::(?P<tag>[\w][\w.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?")
_NVIDIA = re.compile(r"\d+\.\d+\.\d+(-cudnn\d*)?-[a-z]+-[a-z]+[\d.]*")
_CUDA = re.compile(r"\d+\.\d+(\.\d+)?(?=-|$)")
_NVIDIAS = ("", "docker.io", "index.docker.io", "nvcr.io")
"""The registries where NVIDIA publishes. A reference without a registry means Docker Hub."""
_PYTORCH = re.compile(
    r"(?P<torch>\d+\.\d+\.\d+)-cuda(?P<major>\d+)\.(?P<minor>\d+)-cudnn(?P<cudnn>\d+)-(?P<flavour>[a-z]+)"
)
_EXAMPLES = {
    Origin.NVIDIA_CUDA: "12.9.2-cudnn-runtime-ubuntu24.04",
    Origin.PYTORCH: "2.14.1-cuda13.0-cudnn9-runtime",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerImage:
    """The content of a container image, as far as its reference names it."""

    reference: str
    origin: Origin
    cuda: Toolkit | None = None
    """Its CUDA libraries; none where it has none or the reference does not name them."""
    point: str | None = None
    """The exact point release, for example `12.9.1`."""
    torch: TorchBuild | None = None
    kept: bool = False
    """Whether it is in a registry where NVIDIA deletes nothing."""


def _cudnn(version: tuple[int, ...]) -> str:
    """Return the part of the tag that marks images with cuDNN."""
    if version >= (12, 4):
        return "cudnn"
    return "cudnn9" if version >= (12, 3) else "cudnn8"


def _is_built_on(system: str, version: tuple[int, ...]) -> bool:
    first, last = _UBUNTU.get(system, ((), ()))
    return version >= first and (not last or version[:2] <= last)


def nvidia_tags(point: str) -> tuple[str, ...]:
    """Return the tags of nvidia/cuda for one point release, for example `12.9.1`."""
    version = parse(point)
    kinds = (*FLAVOURS, *(f"{_cudnn(version)}-{flavour}" for flavour in _WITH_CUDNN))
    return tuple(
        f"{point}-{kind}-{system}" for system in OPERATING_SYSTEMS if _is_built_on(system, version) for kind in kinds
    )


def _point_release(tag: str) -> str | None:
    """Return the point release that a tag begins with, or the nearest one; none where it begins with no version."""
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
    """Return the toolkit and the point release of a tag of nvidia/cuda."""
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
    """Return the registry of a name, and the path in it."""
    first, slash, rest = name.partition("/")
    return (first, rest) if slash and (first == "localhost" or set(".:") & set(first)) else ("", name)


def _origin(registry: str, path: str, tag: str | None, digest: str | None) -> Origin:
    """Return the publisher. A digest alone names none; a copy is recognized by its name and the form of its tag."""
    *_, owner, name = ("", *path.split("/"))
    if registry not in _NVIDIAS and name == "cuda":
        return Origin.NVIDIA_CUDA if tag and _NVIDIA.fullmatch(tag) else Origin.OTHER
    found = next((one for one in Origin if one == f"{owner}/{name}"), Origin.OTHER)
    only_digest = digest is not None and tag is None and found is not Origin.GITHUB_RUNNER
    return Origin.OTHER if only_digest else found


def cuda_base(stated: str) -> str:
    """Return the reference of a base image that is stated as a tag of nvidia/cuda or as a whole reference."""
    return stated if "/" in stated else f"nvidia/cuda:{stated}"


@cache
def container_image(reference: str) -> ContainerImage:
    """Return what the reference `[registry/]name[:tag][@digest]` names.

    The reference of any other publisher's image names nothing, nor does a digest alone.

    Raises:
        UnknownName: NVIDIA or PyTorch never published the tag.

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
        return ContainerImage(reference=reference, origin=origin, cuda=known, point=point, kept=kept)
    if origin is Origin.PYTORCH:
        found = _tag(reference, origin, _PYTORCH, tag)
        build = torch(f"{found['torch']}+cu{found['major']}{found['minor']}")
        return ContainerImage(reference=reference, origin=origin, cuda=toolkit(dotted(build.cuda)), torch=build)
    return ContainerImage(reference=reference, origin=origin)


def superseded(image: ContainerImage) -> bool:
    """Return whether there is a newer point release of an nvidia/cuda image."""
    return image.cuda is not None and image.point is not None and image.point != image.cuda.newest


def newest_of(image: ContainerImage) -> ContainerImage | None:
    """Return the nvidia/cuda image of the newest point release; none where the reference has no point release."""
    if image.cuda is None or image.point is None:
        return None
    name, _, tag = image.reference.partition("@")[0].rpartition(":")
    return container_image(f"{name}:{tag.replace(image.point, image.cuda.newest, 1)}")


def end_of_life(image: ContainerImage) -> date | None:
    """Return the end of life of an nvidia/cuda image: that of the last driver branch for its CUDA generation."""
    if image.origin is not Origin.NVIDIA_CUDA or image.cuda is None:
        return None
    major = image.cuda.version[0]
    return max(branch.ends for branch in BRANCHES.values() if branch.cuda[0] == major and branch.ends is not None)


def deleted_from(end: date) -> date:
    """Return the first day on which the tags of an image may be deleted: six months after its end of life."""
    year, month = end.year + (end.month + 5) // 12, (end.month + 5) % 12 + 1
    return date(year, month, min(end.day, monthrange(year, month)[1]))
