"""How often spot machines are taken away: published bands, and what they mean for an hour.

AWS's Spot Instance Advisor gives, for each type and region, the share of machines that were reclaimed during the last
month, in five bands. Read were: us-east-1 on 2026-09-20 (six types), and ap-northeast-1 in a snapshot of 2026 kept by
`alexei-led/spotinfo`. A family has the worst band that any of its types had. Google publishes no figures; the band
that it has here is an assumption. A reclaimed share P in a month is an hourly rate of -ln(1 - P) / 730, as if
interruptions came independently; really they come in bursts, and a managed node group also drains a machine on a
rebalance recommendation that never becomes an interruption. So these rates are a floor: who has counted, states
his own.
"""

from __future__ import annotations

import math
from enum import Enum
from types import MappingProxyType

from gpu.cost.prices import HOURS_A_MONTH
from gpu.machines import ec2_type


class Band(Enum):
    """A band of the Spot Instance Advisor, by the share of a month that it is reckoned with: its upper end."""

    BELOW_5 = 0.05
    FROM_5 = 0.10
    FROM_10 = 0.15
    FROM_15 = 0.20
    ABOVE_20 = 0.35
    """Has no upper end; the figure is an assumption."""

    @property
    def per_hour(self) -> float:
        """Interruptions of one machine in an hour."""
        return -math.log1p(-self.value) / HOURS_A_MONTH


_REGIONAL = MappingProxyType(
    {
        ("us-east-1", "g5.2xlarge"): Band.FROM_15,
        ("us-east-1", "g6.2xlarge"): Band.FROM_10,
        ("us-east-1", "g6e.2xlarge"): Band.FROM_5,
        ("us-east-1", "g6e.4xlarge"): Band.ABOVE_20,
        ("us-east-1", "g6e.8xlarge"): Band.FROM_15,
        ("us-east-1", "p5.48xlarge"): Band.BELOW_5,
    }
)
_FAMILY = MappingProxyType({"g7e": Band.FROM_10, "gr6f": Band.BELOW_5, "p5": Band.BELOW_5})
"""Families that did better than the worst band; every other one that was read, g4dn among them, was in that."""

GOOGLE = Band.ABOVE_20
"""Of every Google spot machine, an assumption: Google says only that the rate is low and varies."""


def band(name: str, region: str) -> Band:
    """The band of an EC2 instance type; the worst one where nothing better was read."""
    return _REGIONAL.get((region, name)) or _FAMILY.get(ec2_type(name).family, Band.ABOVE_20)


def rate_per_hour(names: tuple[str, ...], region: str) -> float:
    """Interruptions in an hour of a machine of any of the types: the worst of them."""
    return max(band(name, region).per_hour for name in names)
