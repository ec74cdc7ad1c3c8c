"""Cutting the VPC's range into subnets: by slot, so that adding a zone moves no address. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from ipaddress import IPv4Network

SLOTS = 8
"""Zones a range can ever hold; fixed, because it decides every subnet's size."""


@dataclass(frozen=True, slots=True)
class ZoneRanges:
    """The two ranges of one zone."""

    private: IPv4Network
    """For nodes and pods: a sixteenth of the range."""
    public: IPv4Network
    """For the NAT gateway and load balancers."""


def zone_ranges(cidr: IPv4Network, zones: Mapping[str, int]) -> dict[str, ZoneRanges]:
    """Each zone's ranges, cut from `cidr` by its slot.

    The range is cut into sixteen: slots 0 to 7 for private subnets, 8 to 15 for public ones, of which a public
    subnet takes the first quarter. A zone's ranges depend on its own slot alone.

    Raises:
        ValueError: a slot is not in 0 to 7, or `cidr` is too small to be cut.

    """
    parts = list(cidr.subnets(prefixlen_diff=4))
    ranges: dict[str, ZoneRanges] = {}
    for zone, slot in zones.items():
        if not 0 <= slot < SLOTS:
            message = f"slot {slot} of {zone} is not in 0 to {SLOTS - 1}"
            raise ValueError(message)
        (public,) = islice(parts[SLOTS + slot].subnets(prefixlen_diff=2), 1)
        ranges[zone] = ZoneRanges(private=parts[slot], public=public)
    return ranges
