"""CUDA toolkits: the driver of the release, the oldest driver, and the point releases.

Drivers: NVIDIA's CUDA Toolkit release notes, tables 2 and 3 (editions of CUDA 13.2 Update 2 and 13.3 Update 1, 2026);
13.4 from the cuDNN 9.25 support matrix, which needs R615. Oldest drivers: "Minor Version Compatibility" in
NVIDIA's CUDA Compatibility guide (2026): within one major version a toolkit runs on any driver from the first branch of
that major version on, but without the features that the driver lacks and without compiling its PTX.
Point releases: tags of nvidia/cuda seen in public use by October 2026. There was never a CUDA 12.7 toolkit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType

from gpu_ci.knowledge.nearest import UnknownName
from gpu_ci.knowledge.software.architectures import ARCHITECTURES, Architecture
from gpu_ci.knowledge.software.drivers import Driver
from gpu_ci.knowledge.software.versions import UnknownVersion, parse

MajorMinor = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolkit:
    """One minor version of the CUDA toolkit."""

    version: MajorMinor
    driver: tuple[int, ...]
    """The oldest driver that supports all of it."""
    points: tuple[int, ...]
    """Its point releases, oldest first."""

    @property
    def label(self) -> str:
        """The version, for example `12.9`."""
        return f"{self.version[0]}.{self.version[1]}"

    @property
    def newest(self) -> str:
        """Its newest point release."""
        return f"{self.label}.{self.points[-1]}"


FLOORS = MappingProxyType({11: (450, 80, 2), 12: (525, 60, 13), 13: (580, 65, 6)})
"""The oldest driver of each major version."""

_ROWS = """
11.0 450.51.05 3
11.1 455.23 1
11.2 460.27.03 0 1 2
11.3 465.19.01 0 1
11.4 470.42.01 0 1 2 3
11.5 495.29.05 0 1 2
11.6 510.39.01 0 1 2
11.7 515.43.04 0 1
11.8 520.61.05 0
12.0 525.60.13 0 1
12.1 530.30.02 0 1
12.2 535.54.03 0 1 2
12.3 545.23.06 0 1 2
12.4 550.54.14 0 1
12.5 555.42.02 0 1
12.6 560.28.03 0 1 2 3
12.8 570.26 0 1
12.9 575.51.03 0 1 2
13.0 580.65.06 0 1 2 3
13.1 590.44.01 0 1
13.2 595.45.04 0 1 2
13.3 610.43.02 0 1
13.4 615 1 2
"""


def _rows() -> dict[MajorMinor, Toolkit]:
    found: dict[MajorMinor, Toolkit] = {}
    for line in _ROWS.split("\n")[1:-1]:
        label, driver, *points = line.split()
        major, minor = map(int, label.split("."))
        found[major, minor] = Toolkit(version=(major, minor), driver=parse(driver), points=tuple(map(int, points)))
    return found


TOOLKITS = MappingProxyType(_rows())
"""Every toolkit by its major and minor version, oldest first."""


@cache
def toolkit(name: str) -> Toolkit:
    """Return the toolkit of a version such as `12.9`, or of a point release such as `12.9.1`.

    Raises:
        UnknownName: there is no such version.

    """
    if not re.fullmatch(r"\d+\.\d+(\.\d+)?", name):
        raise UnknownName("CUDA version", name, (row.label for row in TOOLKITS.values()))
    parts = parse(name)
    found = TOOLKITS.get((parts[0], parts[1]))
    if found is None:
        raise UnknownVersion("CUDA version", name, (row.label for row in TOOLKITS.values()))
    if len(parts) > 2 and parts[2] not in found.points:
        raise UnknownVersion("CUDA version", name, (f"{found.label}.{point}" for point in found.points))
    return found


class Support(StrEnum):
    """The support of a driver for a toolkit."""

    FULL = "full"
    """The driver is at least the one that the toolkit was released with."""
    MINOR_VERSION = "minor version compatibility"
    """The driver belongs to the same major version, and is older than the toolkit."""
    NONE = "none"
    """The driver is older than the major version's floor."""


def support(driver: Driver, wanted: Toolkit) -> Support:
    """Return the support of `driver` for `wanted`. A newer driver supports every older toolkit."""
    if driver.at_least(wanted.driver):
        return Support.FULL
    floor = FLOORS[wanted.version[0]]
    return Support.MINOR_VERSION if driver.at_least(floor) else Support.NONE


def dropped(wanted: Toolkit, architecture: Architecture) -> bool:
    """Return whether a toolkit no longer supports an architecture."""
    return architecture.last_cuda is not None and wanted.version[0] > architecture.last_cuda


def native(wanted: Toolkit, architecture: Architecture) -> bool:
    """Return whether a toolkit can contain machine code that runs on an architecture.

    Code for a lower minor capability runs on a higher one of the same major capability.
    """
    if dropped(wanted, architecture):
        return False
    major, minor = architecture.capability
    return any(
        row.first_cuda <= wanted.version
        for row in ARCHITECTURES.values()
        if row.capability[0] == major and row.capability[1] <= minor
    )
