"""NVIDIA's driver branches, and how a driver is named: by branch, by exact version, by Ubuntu package.

Designations and ends of life: NVIDIA's data centre driver documentation, "Supported Drivers and CUDA Toolkit
Versions": edition of 2026-09-09 for R535, R580, R595 and R610, of 2025-08-04 for R570. NVIDIA gives months; the last
day is meant. A branch that an edition lists as ended, without its date, ended "not later than" that edition. A
branch's own CUDA: the CUDA release notes (`gpu.software.cuda`). R615 has documentation and no row in that table yet.
Transitional packages: packages.ubuntu.com, noble, 2026. What image carries what driver is in `gpu.software.machine_images`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cache
from types import MappingProxyType

from gpu.nearest import UnknownName
from gpu.software.architectures import KernelModule
from gpu.software.versions import UnknownVersion, parse

AS_OF = date(2026, 11, 21)
"""The day on which ends of life are judged where nobody says another; moved by hand when the tables are renewed."""


class Designation(StrEnum):
    """How long NVIDIA keeps a branch."""

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
    """Its end of life; none where NVIDIA has not said."""
    ends_exactly: bool = True
    """Whether NVIDIA gave that date; otherwise the branch had ended by then."""

    @property
    def label(self) -> str:
        """The branch as NVIDIA writes it."""
        return f"R{self.number}"

    def ended(self, as_of: date) -> bool:
        """Whether its life is over on that day."""
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

TRANSITIONAL = MappingProxyType({"535-server": 580, "570-server": 580})
"""Ubuntu's server packages that only pull in those of another branch."""


def server_package(number: str) -> str:
    """The package by which the GPU host of Google Cloud has a branch: signed by Ubuntu, with proprietary modules."""
    return f"linux-modules-nvidia-{number}-server-gcp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """A driver, as exactly as it was named."""

    name: str
    """What was written."""
    branch: Branch
    version: tuple[int, ...] | None = None
    """The exact version; none where only the branch was named, and its newest release is meant."""
    module: KernelModule | None = None
    """The kernel module that the name commits to; none where either can be had."""
    instead_of: int | None = None
    """The branch that was named, where the package brings another one."""

    @property
    def label(self) -> str:
        """The driver in a sentence."""
        return ".".join(_padded(self.version)) if self.version else self.branch.label

    def at_least(self, minimum: tuple[int, ...]) -> bool:
        """Whether it is that version or a newer one; a branch counts as its newest release."""
        if self.version is None:
            return self.branch.number >= minimum[0]
        return self.version >= minimum


def _padded(version: tuple[int, ...]) -> list[str]:
    return [str(version[0]), str(version[1]), *(f"{part:02d}" for part in version[2:])]


_VERSION = re.compile(r"R?(\d{3})((?:\.\d+){1,2})?")
_PACKAGE = re.compile(
    r"(?:linux-modules-nvidia|nvidia-driver|nvidia-headless(?:-no-dkms)?|nvidia-open|nvidia-dkms|cuda-drivers)"
    r"-(?P<branch>\d{3})(?P<server>-server)?(?P<open>-open)?(?:-[\w.]+)*"
)


def branch(number: int) -> Branch:
    """The branch of that number."""
    try:
        return BRANCHES[number]
    except KeyError:
        raise UnknownVersion("driver branch", str(number), map(str, BRANCHES)) from None


@cache
def driver(name: str) -> Driver:
    """The driver of that name: `580`, `R580`, `580.159.03`, or a package such as `nvidia-driver-580-server-open`."""
    if found := _VERSION.fullmatch(name):
        number, rest = int(found[1]), found[2]
        return Driver(name=name, branch=branch(number), version=(number, *parse(rest[1:])) if rest else None)
    if found := _PACKAGE.fullmatch(name):
        number = int(found["branch"])
        actual = TRANSITIONAL.get(f"{number}{found['server'] or ''}", number)
        is_open = bool(found["open"]) or name.startswith("nvidia-open-")
        return Driver(
            name=name,
            branch=branch(actual),
            module=KernelModule.OPEN if is_open else KernelModule.PROPRIETARY,
            instead_of=number if actual != number else None,
        )
    raise UnknownName("driver", name, [*map(str, BRANCHES), "nvidia-driver-580-server-open"])
