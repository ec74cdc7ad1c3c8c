"""The support of Kubernetes versions by EKS (EKS user guide, "Kubernetes versions", November 2026)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Final

MAX_SKEW: Final = 3
"""Minor versions that a kubelet may be older than the control plane (Kubernetes, "Version Skew Policy", since 1.28)."""


@dataclass(frozen=True, slots=True)
class Support:
    """The ends of support of one minor version."""

    standard: date
    extended: date
    """The day on which EKS upgrades the cluster in any case."""


ENDS: Final[Mapping[str, Support]] = MappingProxyType(
    {
        "1.33": Support(date(2026, 7, 29), date(2027, 7, 29)),
        "1.34": Support(date(2026, 12, 2), date(2027, 12, 2)),
        "1.35": Support(date(2027, 3, 27), date(2028, 3, 27)),
        "1.36": Support(date(2027, 8, 2), date(2028, 8, 2)),
    }
)
"""The ends of support by minor version. Of the extended support of 1.36, only the month is published."""


def minor(version: str) -> tuple[int, int]:
    """Return the minor version of a Kubernetes version, for example (1, 35) of `v1.35.6-20260714`."""
    major, number = version.removeprefix("v").split(".")[:2]
    return int(major), int(number)


def skew(control_plane: str, other: str) -> int:
    """Return the minor versions that `other` is older than the control plane; negative if it is newer."""
    (major, newer), (other_major, older) = minor(control_plane), minor(other)
    return 100 * (major - other_major) + newer - older
