"""The ranges of subnets, cut from the range of the VPC by slot: adding a zone moves no address. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from itertools import islice

SLOTS = 8
"""The largest number of zones. Fixed, because it determines the size of every subnet."""


@dataclass(frozen=True, slots=True)
class ZoneRanges:
    """The two ranges of one zone."""

    private: IPv4Network
    """Addresses of nodes and pods: a sixteenth of the range."""
    public: IPv4Network
    """Addresses of the NAT gateway and load balancers: a sixty-fourth of the range."""


def zone_ranges(cidr: IPv4Network, zones: Mapping[str, int]) -> dict[str, ZoneRanges]:
    """Return the ranges of each zone, cut from `cidr` by its slot.

    The range has sixteen parts: parts 0 to 7 are private subnets, and a public subnet is the first quarter of one of
    the parts 8 to 15. The ranges of a zone depend only on its own slot.

    Raises:
        ValueError: a slot is not in 0 to 7, or `cidr` is too small.

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
