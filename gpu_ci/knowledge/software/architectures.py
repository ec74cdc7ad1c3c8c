"""GPU architectures: the CUDA toolkits, driver branches and kernel modules that support each.

First and last CUDA, last driver branch: NVIDIA's "CUDA Toolkit, Driver, and Architecture Matrix" (data centre driver
documentation, edition of 2026-09-09), with 10.3 and 12.1 from the CUDA 12.9 release notes. Kernel modules: NVIDIA's
driver installation guide for R610 (open modules from Turing on, proprietary ones before it) and its note that
Blackwell needs the open modules. The compute capabilities of GPU models are in `gpu_ci.knowledge.machines`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from gpu_ci.knowledge.nearest import UnknownName

Capability = tuple[int, int]
"""A CUDA compute capability."""


class KernelModule(StrEnum):
    """NVIDIA's two kinds of Linux kernel modules."""

    OPEN = "open"
    PROPRIETARY = "proprietary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """The software support of one compute capability."""

    name: str
    capability: Capability
    first_cuda: tuple[int, int]
    """The first toolkit that compiles for it. Its driver branch is the first that supports it."""
    last_cuda: int | None = None
    """The last major version of CUDA that supports it; none where there is none yet."""
    last_driver: int | None = None
    """The last driver branch that supports it; none where there is none yet."""
    modules: frozenset[KernelModule] = frozenset(KernelModule)

    @property
    def sm(self) -> str:
        """The architecture as compilers write it."""
        return sm(self.capability)


def sm(capability: Capability) -> str:
    """Return a compute capability as compilers write it, for example `sm_75`."""
    return f"sm_{capability[0]}{capability[1]}"


_PROPRIETARY = frozenset({KernelModule.PROPRIETARY})
_OPEN = frozenset({KernelModule.OPEN})

_ROWS = (
    *(
        Architecture(name=name, capability=capability, first_cuda=first, last_cuda=12, last_driver=580,
                     modules=_PROPRIETARY)
        for name, capability, first in (
            ("Maxwell", (5, 0), (6, 5)),
            ("Maxwell", (5, 2), (6, 5)),
            ("Pascal", (6, 0), (8, 0)),
            ("Pascal", (6, 1), (8, 0)),
            ("Volta", (7, 0), (9, 0)),
        )
    ),
    Architecture(name="Turing", capability=(7, 5), first_cuda=(10, 0)),
    Architecture(name="Ampere", capability=(8, 0), first_cuda=(11, 0)),
    Architecture(name="Ampere", capability=(8, 6), first_cuda=(11, 1)),
    Architecture(name="Ada", capability=(8, 9), first_cuda=(11, 8)),
    Architecture(name="Hopper", capability=(9, 0), first_cuda=(11, 8)),
    *(
        Architecture(name="Blackwell", capability=capability, first_cuda=first, modules=_OPEN)
        for capability, first in (((10, 0), (12, 8)), ((10, 3), (12, 9)), ((12, 0), (12, 8)), ((12, 1), (12, 9)))
    ),
)  # fmt: skip

ARCHITECTURES = MappingProxyType({row.capability: row for row in _ROWS})
"""Every architecture by its compute capability."""


def architecture(capability: Capability) -> Architecture:
    """Return the architecture of that compute capability."""
    try:
        return ARCHITECTURES[capability]
    except KeyError:
        raise UnknownName("GPU architecture", sm(capability), map(sm, ARCHITECTURES)) from None
