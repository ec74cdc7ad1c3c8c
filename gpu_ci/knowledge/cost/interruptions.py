"""Interruption rates of spot machines: the published bands as rates per hour.

AWS's Spot Instance Advisor publishes, for each type and region, the share of machines that were reclaimed in the last
month, in five bands. The figures are from us-east-1 on 2026-09-20 (six types) and from a snapshot of ap-northeast-1 of
2026 in `alexei-led/spotinfo`. A family gets the worst band of its types. Google publishes no figures; its band is an
assumption. A share P in a month is an hourly rate of -ln(1 - P) / 730, as if interruptions were independent.

The rates are a lower bound: interruptions come in bursts, and a managed node group also drains a machine on a rebalance
recommendation that never becomes an interruption. `interruptions-per-hour` of a pool overrides them.
"""

from __future__ import annotations

import math
from enum import Enum
from types import MappingProxyType

from gpu_ci.knowledge.cost.prices import HOURS_A_MONTH


class Band(Enum):
    """A band of the Spot Instance Advisor, by its upper limit: the share of machines reclaimed in a month."""

    BELOW_5 = 0.05
    FROM_5 = 0.10
    FROM_10 = 0.15
    FROM_15 = 0.20
    ABOVE_20 = 0.35
    """Has no upper limit; the figure is an assumption."""

    @property
    def per_hour(self) -> float:
        """The interruptions of one machine in an hour."""
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
"""Families better than the worst band. Every other family that was read, g4dn included, is in the worst."""

GCP_BAND = Band.ABOVE_20
"""The band of every spot machine on Google Cloud. An assumption: Google says only that the rate is low and varies."""


def aws_rate(names: tuple[str, ...], region: str) -> float:
    """Return the interruptions in an hour of an EC2 machine of any of the types: the rate of the worst one."""
    return max(_band(name, region).per_hour for name in names)


def _band(name: str, region: str) -> Band:
    """Return the band of an EC2 instance type; the worst one where none was read."""
    return _REGIONAL.get((region, name)) or _FAMILY.get(name.partition(".")[0], Band.ABOVE_20)
