"""GPUs of Jarvis Labs: their name in its API, and the CPUs and memory that come with each.

Sizes: the price page of Jarvis Labs as api-evangelist/jarvislabs recorded it on 2026-09-20, and SkyPilot's catalogue
(version 8); the smaller figure where they differ. A5000, A6000, RTX6000Ada and RTX5000: the API documentation names
them, the price page no longer does, and their sizes are those of its guide for fast.ai (2022). Regions: the SDK
(jarvislabs 0.2.19), which starts only one H100 or H200 in Europe. RTX-PRO6000 has a hyphen in the API, and none in
SkyPilot's catalogue (jarvislabsai/skypilot, `sky/provision/jarvislabs/utils.py`, 2026).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from gpu_ci.knowledge.machines.gcp import MachineType
from gpu_ci.knowledge.machines.models import GPU_MODELS
from gpu_ci.knowledge.nearest import UnknownName

EUROPE: Final = "europe-01"
"""The region that has few of the GPUs, one to an instance."""
_IN_EUROPE: Final = frozenset({"h100", "h200"})
MOST_GPUS: Final = 8
"""The largest number of GPUs of an instance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JarvisGpu:
    """One GPU model as Jarvis Labs rents it."""

    slug: str
    """The model's name in the stack file."""
    name: str
    """Its name in the API."""
    vcpus: int
    """CPUs for each GPU."""
    memory_gib: int
    """Memory for each GPU."""


JARVIS_GPUS: Final[Mapping[str, JarvisGpu]] = MappingProxyType(
    {
        slug: JarvisGpu(slug=slug, name=name, vcpus=vcpus, memory_gib=gib)
        for slug, name, vcpus, gib in (
            ("l4", "L4", 28, 124),
            ("a30", "A30", 16, 112),
            ("a100", "A100", 16, 112),
            ("a100-80gb", "A100-80GB", 16, 112),
            ("rtx-pro-6000", "RTX-PRO6000", 28, 160),
            ("h100", "H100", 16, 200),
            ("h200", "H200", 28, 300),
            ("rtx-5000", "RTX5000", 7, 32),
            ("a5000", "A5000", 7, 32),
            ("a6000", "A6000", 7, 32),
            ("rtx-6000-ada", "RTX6000Ada", 7, 32),
        )
    }
)
"""Every model by its slug."""


def jarvis_gpu(slug: str) -> JarvisGpu:
    """Return the GPU model of that slug.

    Raises:
        UnknownName: Jarvis Labs does not rent it.

    """
    try:
        return JARVIS_GPUS[slug]
    except KeyError:
        raise UnknownName("GPU of Jarvis Labs", slug, JARVIS_GPUS) from None


def jarvis_instance(slug: str, gpus: int) -> MachineType:
    """Return an instance with that number of GPUs; its name is `2xL4`.

    Raises:
        UnknownName: Jarvis Labs does not rent the GPU.

    """
    gpu = jarvis_gpu(slug)
    return MachineType(
        name=f"{gpus}x{gpu.name}",
        vcpus=gpus * gpu.vcpus,
        memory_mib=gpus * gpu.memory_gib * 1024,
        gpu=GPU_MODELS[slug],
        gpus=gpus,
    )


_INSTANCES: Final = MappingProxyType(
    {one.name: one for slug in JARVIS_GPUS for gpus in range(1, MOST_GPUS + 1) for one in [jarvis_instance(slug, gpus)]}
)


def jarvis_type(name: str) -> MachineType:
    """Return the instance of that name, for example `2xL4`.

    Raises:
        UnknownName: there is no such instance.

    """
    try:
        return _INSTANCES[name]
    except KeyError:
        raise UnknownName("instance of Jarvis Labs", name, _INSTANCES) from None


def in_region(instance: MachineType, region: str) -> bool:
    """Return whether a region may have the instance; an empty region means that Jarvis Labs chooses one."""
    model = instance.gpu
    return region != EUROPE or (model is not None and model.slug in _IN_EUROPE and instance.gpus == 1)
