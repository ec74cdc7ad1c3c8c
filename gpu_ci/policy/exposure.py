"""Detect address ranges that are practically the whole internet.

The rules for resources and those for the stack file both use this module, so that neither accepts two halves of a
range that the other refuses.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

SHORTEST: Final = 8
"""The shortest prefix of an acceptable range: no organisation needs more than a /8."""
_ADDRESSES: Final = {4: 2**32, 6: 2**125}
"""The number of addresses of the internet; for IPv6 the assigned range 2000::/3."""


@dataclass(frozen=True, slots=True)
class Exposure:
    """The part of some ranges that is too large."""

    wide: tuple[str, ...]
    """The ranges that are each too large."""
    together: bool
    """True if the ranges together cover at least half of the internet, although no single one is too large."""


def exposure(ranges: Iterable[str]) -> Exposure:
    """Return the exposure of some ranges; text that is not a range is ignored."""
    known = {text: found for text in ranges if (found := _network(text)) is not None}
    wide = tuple(text for text, found in known.items() if found.prefixlen < SHORTEST)
    v4 = collapse_addresses(found for found in known.values() if isinstance(found, IPv4Network))
    v6 = collapse_addresses(found for found in known.values() if isinstance(found, IPv6Network))
    reached = {4: sum(found.num_addresses for found in v4), 6: sum(found.num_addresses for found in v6)}
    half = any(2 * addresses >= _ADDRESSES[version] for version, addresses in reached.items())
    return Exposure(wide=wide, together=half and not wide)


def _network(text: str) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        return None
