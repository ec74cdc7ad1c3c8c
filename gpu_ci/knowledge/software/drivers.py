"""NVIDIA's driver branches and the Ubuntu packages that install them.

Designations and ends of life: NVIDIA's data centre driver documentation, "Supported Drivers and CUDA Toolkit Versions":
edition of 2026-09-09 for R535, R580, R595 and R610, of 2025-08-04 for R570. NVIDIA gives months; the last day is meant.
A branch that an edition lists as ended without a date ended "on or before" that edition. A branch's own CUDA: the CUDA
release notes (`gpu_ci.knowledge.software.cuda`). R615 has documentation and no row in that table yet. Transitional
packages: packages.ubuntu.com, noble, 2026. The drivers of machine images are in
`gpu_ci.knowledge.software.machine_images`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cache
from types import MappingProxyType

from gpu_ci.knowledge.software.architectures import KernelModule
from gpu_ci.knowledge.software.versions import UnknownVersion

AS_OF = date(2026, 11, 21)
"""The day on which ends of life are checked by default. Change it when the tables are updated."""


class Designation(StrEnum):
    """NVIDIA's term for the support time of a branch."""

    LONG_TERM_SUPPORT = "long-term support"
    PRODUCTION = "production"
    NEW_FEATURE = "new feature"


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One driver branch."""

    number: int
    designation: Designation
    cuda: tuple[int, int]
    """The CUDA version that its own user-mode driver implements."""
    ends: date | None
    """Its end of life; none where NVIDIA has not published one."""
    ends_exactly: bool = True
    """Whether NVIDIA gave that date; otherwise the branch had ended by then."""

    @property
    def label(self) -> str:
        """The branch as NVIDIA writes it."""
        return f"R{self.number}"

    def ended(self, as_of: date) -> bool:
        """Return whether its end of life is before that day."""
        return self.ends is not None and self.ends < as_of


_LONG, _PRODUCTION, _FEATURE = Designation
_LISTED_2025 = date(2025, 8, 4)
_LISTED_2026 = date(2026, 9, 9)
_ROWS: tuple[tuple[int, Designation, tuple[int, int], date | None, bool], ...] = (
    (450, _LONG, (11, 0), _LISTED_2025, False),
    (460, _PRODUCTION, (11, 2), _LISTED_2025, False),
    (470, _LONG, (11, 4), _LISTED_2025, False),
    (510, _PRODUCTION, (11, 6), _LISTED_2025, False),
    (515, _PRODUCTION, (11, 7), _LISTED_2025, False),
    (520, _FEATURE, (11, 8), _LISTED_2025, False),
    (525, _PRODUCTION, (12, 0), _LISTED_2025, False),
    (530, _FEATURE, (12, 1), _LISTED_2025, False),
    (535, _LONG, (12, 2), date(2026, 6, 30), True),
    (545, _FEATURE, (12, 3), _LISTED_2025, False),
    (550, _PRODUCTION, (12, 4), _LISTED_2025, False),
    (555, _FEATURE, (12, 5), _LISTED_2025, False),
    (560, _FEATURE, (12, 6), _LISTED_2025, False),
    (565, _FEATURE, (12, 7), _LISTED_2025, False),
    (570, _PRODUCTION, (12, 8), date(2026, 2, 28), True),
    (575, _FEATURE, (12, 9), _LISTED_2025, False),
    (580, _LONG, (13, 0), date(2028, 6, 30), True),
    (590, _FEATURE, (13, 1), _LISTED_2026, False),
    (595, _PRODUCTION, (13, 2), date(2027, 3, 31), True),
    (610, _FEATURE, (13, 3), date(2026, 8, 31), True),
    (615, _FEATURE, (13, 4), None, True),
)
BRANCHES = MappingProxyType(
    {
        number: Branch(number=number, designation=designation, cuda=cuda, ends=ends, ends_exactly=exactly)
        for number, designation, cuda, ends, exactly in _ROWS
    }
)
"""Every branch by its number."""

TRANSITIONAL = MappingProxyType({535: 580, 570: 580})
"""Branches whose packages in Ubuntu's archive only install those of another branch."""


def server_package(number: str) -> str:
    """Return the Ubuntu package of a branch for Google Cloud: signed by Ubuntu, with proprietary kernel modules."""
    return f"linux-modules-nvidia-{number}-server-gcp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """A driver, known by its branch or by its exact version."""

    name: str
    branch: Branch
    version: tuple[int, ...] | None = None
    """The exact version; none where only the branch is known, and its newest release is meant."""
    module: KernelModule | None = None
    """The only kernel module that it brings; none where both are available."""
    instead_of: int | None = None
    """The requested branch, where the package installs another one."""

    @property
    def label(self) -> str:
        """The driver in a sentence."""
        return written(self.version) if self.version else self.branch.label

    def at_least(self, minimum: tuple[int, ...]) -> bool:
        """Return whether it is that version or newer; a branch counts as its newest release."""
        return self.branch.number >= minimum[0] if self.version is None else self.version >= minimum


def written(version: tuple[int, ...]) -> str:
    """Return a driver version as NVIDIA writes it, for example `580.65.06`, or `R615` for a branch."""
    if len(version) == 1:
        return f"R{version[0]}"
    return ".".join([*map(str, version[:2]), *(f"{part:02d}" for part in version[2:])])


def branch(number: int) -> Branch:
    """Return the branch of that number.

    Raises:
        UnknownVersion: there is no such branch.

    """
    try:
        return BRANCHES[number]
    except KeyError:
        raise UnknownVersion("driver branch", str(number), map(str, BRANCHES)) from None


@cache
def ubuntu_driver(number: str) -> Driver:
    """Return the driver that Ubuntu's server package of a branch installs on Google Cloud."""
    return _installed(number, server_package(number), KernelModule.PROPRIETARY)


@cache
def open_ubuntu_driver(number: str) -> Driver:
    """Return the driver that Ubuntu's server package of a branch with open kernel modules installs."""
    return _installed(number, f"linux-modules-nvidia-{number}-server-open", KernelModule.OPEN)


def _installed(number: str, package: str, module: KernelModule) -> Driver:
    wanted = int(number)
    installed = TRANSITIONAL.get(wanted, wanted)
    return Driver(
        name=package, branch=branch(installed), module=module, instead_of=wanted if installed != wanted else None
    )
