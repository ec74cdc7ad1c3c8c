"""When ranges of addresses are as good as the whole internet.

Owns the arithmetic and nothing of whom it is asked about: the rules on resources ask it, and so do those on the stack
file, lest what one of them refuses in a single range be let through by the other in two halves.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

SHORTEST: Final = 8
"""The shortest prefix of a range that somebody can mean: nobody has more than a /8 of his own."""
_ADDRESSES: Final = {4: 2**32, 6: 2**125}
"""The addresses of the internet; of IPv6 those that are given out, 2000::/3."""


@dataclass(frozen=True, slots=True)
class Exposure:
    """What is open among some ranges."""

    wide: tuple[str, ...]
    """The ranges that let everybody in by themselves."""
    together: bool
    """Whether they let half of the internet in, or more, although none does so by itself."""


def exposure(ranges: Iterable[str]) -> Exposure:
    """What some ranges open; a text that is no range opens nothing."""
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
