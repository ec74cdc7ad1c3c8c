"""PyTorch and ONNX Runtime: the CUDA versions and the GPUs that their wheels are built for.

Variants and architectures of torch: PyTorch's release compatibility and CUDA support matrices (RELEASE.md and its
changes for 2.9 to 2.14), the plan for 2.15 (pytorch/pytorch issue 190385, 2026-07), and the build scripts that they
describe. The default variant of the package index: the wheels' own metadata, 2026-11-21 (CUDA 13.0 for 2.11 to 2.14,
13.2 for 2.15). ONNX Runtime: the onnxruntime-gpu wheels' own metadata, 2026-11; Microsoft's CUDA
execution provider page up to 1.19. All rows are wheels for Linux x86_64.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from gpu_ci.knowledge.nearest import UnknownName
from gpu_ci.knowledge.software.architectures import Architecture, Capability
from gpu_ci.knowledge.software.versions import UnknownVersion, dotted, parse

MajorMinor = tuple[int, int]

_OLD = ((5, 0), (6, 0), (7, 0), (7, 5), (8, 0), (8, 6))
_HOPPER = (*_OLD, (9, 0))
_VOLTA = ((7, 0), (7, 5), (8, 0), (8, 6), (9, 0), (10, 0), (12, 0))
_TURING = _VOLTA[1:]


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchBuild:
    """The wheels of one torch release for one CUDA version."""

    release: MajorMinor
    patch: int
    """The newest patch release of that minor version."""
    cuda: MajorMinor
    machine_code: tuple[Capability, ...]
    """The compute capabilities that the wheel has machine code for."""
    ptx: Capability | None
    """The compute capability of its PTX, which newer GPUs compile at start; none where it has no PTX."""
    default: bool
    """Whether it is the default of the package index."""

    @property
    def label(self) -> str:
        """The build as pip names it."""
        return f"torch {dotted(self.release)}.{self.patch}+{self.variant}"

    @property
    def variant(self) -> str:
        """The suffix of the version, which is also the name of PyTorch's index."""
        return f"cu{self.cuda[0]}{self.cuda[1]}"

    def runs_on(self, architecture: Architecture) -> bool:
        """Return whether the GPU can run the wheel: machine code of its major capability, or PTX of an older one."""
        major, minor = architecture.capability
        binary = any(code[0] == major and code[1] <= minor for code in self.machine_code)
        return binary or (self.ptx is not None and self.ptx <= architecture.capability)


def _torch(
    release: str, patch: int, default: str, variants: dict[str, tuple[tuple[Capability, ...], Capability | None]]
) -> list[TorchBuild]:
    major, minor = map(int, release.split("."))
    found: list[TorchBuild] = []
    for cuda, (code, ptx) in variants.items():
        first, second = map(int, cuda.split("."))
        found.append(
            TorchBuild(
                release=(major, minor), patch=patch, cuda=(first, second), machine_code=code, ptx=ptx,
                default=cuda == default,
            )
        )  # fmt: skip
    return found


_CUDA_11 = {"11.8": (_HOPPER, None)}
_LEGACY = {"12.6": (_HOPPER, None)}
_V13_0 = {"13.0": (_TURING, (12, 0))}
_V13_2 = {"13.2": (_TURING, (12, 0))}
_BUILDS = (
    *_torch("2.0", 1, "11.7", {"11.7": (_OLD, None), **_CUDA_11}),
    *_torch("2.1", 2, "12.1", {**_CUDA_11, "12.1": (_HOPPER, None)}),
    *_torch("2.2", 2, "12.1", {**_CUDA_11, "12.1": (_HOPPER, None)}),
    *_torch("2.3", 1, "12.1", {**_CUDA_11, "12.1": (_HOPPER, None)}),
    *_torch("2.4", 1, "12.1", {**_CUDA_11, "12.1": (_HOPPER, None), "12.4": (_HOPPER, None)}),
    *_torch("2.5", 1, "12.4", {**_CUDA_11, "12.1": (_HOPPER, None), "12.4": (_HOPPER, None)}),
    *_torch("2.6", 0, "12.4", {**_CUDA_11, "12.4": (_HOPPER, None), **_LEGACY}),
    *_torch("2.7", 1, "12.6", {**_CUDA_11, **_LEGACY, "12.8": (_TURING, (12, 0))}),
    *_torch("2.8", 0, "12.8", {**_LEGACY, "12.8": (_VOLTA, None), "12.9": (_VOLTA, (12, 0))}),
    *_torch("2.9", 1, "12.8", {**_LEGACY, "12.8": (_VOLTA, None), **_V13_0}),
    *_torch("2.10", 0, "12.8", {**_LEGACY, "12.8": (_VOLTA, None), **_V13_0}),
    *_torch("2.11", 0, "13.0", {**_LEGACY, "12.8": (_TURING, None), **_V13_0}),
    *_torch("2.12", 1, "13.0", {**_LEGACY, **_V13_0, **_V13_2}),
    *_torch("2.13", 0, "13.0", {**_LEGACY, **_V13_0, **_V13_2}),
    *_torch("2.14", 1, "13.0", {**_LEGACY, **_V13_0, **_V13_2}),
    *_torch("2.15", 0, "13.2", {**_V13_0, **_V13_2}),
)
TORCH = MappingProxyType({(build.release, build.cuda): build for build in _BUILDS})
"""Every build of torch by its minor version and its CUDA version."""

_TORCH_VERSION = re.compile(r"(?P<version>\d+\.\d+(?:\.\d+)?)(?:\+cu(?P<major>\d{2})(?P<minor>\d))?")


def builds_of(release: MajorMinor) -> tuple[TorchBuild, ...]:
    """Return all builds of one minor version of torch, oldest CUDA first."""
    return tuple(build for key, build in TORCH.items() if key[0] == release)


@cache
def torch(version: str) -> TorchBuild:
    """Return the build that `2.14.1` or `2.14.1+cu126` installs; without a variant, the package index's default."""
    found = _TORCH_VERSION.fullmatch(version)
    if not found:
        raise UnknownName("torch version", version, (build.label.removeprefix("torch ") for build in TORCH.values()))
    parts = parse(found["version"])
    builds = builds_of((parts[0], parts[1]))
    if not builds:
        known = {dotted(build.release) for build in TORCH.values()}
        raise UnknownVersion("torch version", dotted(parts[:2]), known)
    if len(parts) > 2 and parts[2] > builds[0].patch:
        known = {f"{dotted(parts[:2])}.{patch}" for patch in range(builds[0].patch + 1)}
        raise UnknownVersion("torch version", dotted(parts), known)
    if found["major"] is None:
        return next(build for build in builds if build.default)
    wanted = (int(found["major"]), int(found["minor"]))
    if (builds[0].release, wanted) not in TORCH:
        raise UnknownVersion(
            f"CUDA variant of torch {found['version']}", dotted(wanted), (dotted(b.cuda) for b in builds)
        )
    return TORCH[builds[0].release, wanted]


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxRuntimeBuild:
    """The onnxruntime-gpu wheel of one minor version."""

    release: MajorMinor
    cuda: int
    """The major version of the CUDA libraries that it loads. It does not contain them."""
    cudnn: int

    @property
    def label(self) -> str:
        """The wheel as pip names it."""
        return f"onnxruntime-gpu {dotted(self.release)}"


ONNXRUNTIME = MappingProxyType(
    {
        (1, minor): OnnxRuntimeBuild(
            release=(1, minor), cuda=11 if minor < 19 else 12 if minor < 27 else 13, cudnn=8 if minor < 19 else 9
        )
        for minor in range(15, 32)
    }
)
"""Every onnxruntime-gpu wheel by its minor version: CUDA 12 from 1.19 on, CUDA 13 from 1.27 on."""


@cache
def onnxruntime(version: str) -> OnnxRuntimeBuild:
    """Return the wheel of a version such as `1.26`, or of a patch release of it."""
    known = [dotted(release) for release in ONNXRUNTIME]
    if not re.fullmatch(r"\d+\.\d+(\.\d+)?", version):
        raise UnknownName("onnxruntime-gpu version", version, known)
    parts = parse(version)
    try:
        return ONNXRUNTIME[parts[0], parts[1]]
    except KeyError:
        raise UnknownVersion("onnxruntime-gpu version", dotted(parts[:2]), known) from None
