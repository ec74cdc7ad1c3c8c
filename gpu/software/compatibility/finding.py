"""One thing that does not hold, and the words that explain it.

Owns the shape and the phrases; which things do not hold is for the rules beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu.software.architectures import KernelModule, architecture
from gpu.software.versions import dotted

if TYPE_CHECKING:
    from gpu.machines import GpuModel
    from gpu.software.frameworks import TorchBuild
    from gpu.verdict import Level


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that does not hold, or that will surprise somebody."""

    level: Level
    terms: tuple[str, ...]
    """The parts of the asking that it takes."""
    reason: str
    fix: str
    chain: tuple[str, ...]


def identity(model: GpuModel) -> str:
    """What NVIDIA's software sees in a GPU."""
    return f"{model.slug} is {model.sm} ({architecture(model.capability).name})"


def open_or_proprietary(model: GpuModel) -> str:
    """Which kernel modules drive a GPU, in a sentence."""
    modules = architecture(model.capability).modules
    if len(modules) == len(KernelModule):
        return f"{model.slug} is driven by open and by proprietary kernel modules"
    return f"{model.slug} is driven by {next(iter(modules))} kernel modules alone"


def install(build: TorchBuild) -> str:
    """How a wheel is asked for."""
    version = f"torch=={dotted(build.release)}.{build.patch}"
    return version if build.default else f"{version} --index-url https://download.pytorch.org/whl/{build.variant}"


def dotted_driver(version: tuple[int, ...]) -> str:
    """A driver version as NVIDIA writes it."""
    if len(version) == 1:
        return f"R{version[0]}"
    return ".".join([*map(str, version[:2]), *(f"{part:02d}" for part in version[2:])])


def either(*ways: str) -> str:
    """The ways out that there are, in order."""
    return ", or ".join(way for way in ways if way)


def article(slug: str) -> str:
    """The article before a model's name, whose first letter is read by its own name: an L4, a T4."""
    return "an" if slug[0] in "aefhilmnorsx" else "a"
