"""What a price is, how long a month is, and what GitHub asks for a minute of its own GPU runners.

Owns the shape of a price; AWS's prices are in `gpu.cost.prices_aws`, Google's in `gpu.cost.prices_gcp`. Every price is an exact
decimal in US dollars before tax, with who published it and when it was read. Nothing here is asked of a cloud, so a
price can have changed since: that is what its date is for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from gpu.nearest import UnknownName

if TYPE_CHECKING:
    from collections.abc import Mapping

HOURS_A_MONTH = 730
"""A year's 8760 hours over twelve, as the clouds' own calculators reckon."""


class Unit(StrEnum):
    """What a price is for one of."""

    HOUR = "hour"
    MINUTE = "minute"
    MONTH = "month"
    GB = "GB"
    GB_MONTH = "GB-month"
    IOPS_MONTH = "IOPS-month"
    MIBPS_MONTH = "MiB/s-month"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a price was read."""

    name: str
    read: str
    """The day, as in `2026-08-20`, or as much of it as is known."""
    recalled: bool = False
    """Whether it is general knowledge, met in many places but not read on the seller's own page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What one of something costs."""

    usd: Decimal
    unit: Unit
    source: Source
    bound: bool = False
    """Whether it is only known that it costs no more than this."""

    def times(self, factor: int) -> Price:
        """The price of `factor` of them at once."""
        return replace(self, usd=self.usd * factor)

    def __add__(self, other: Price) -> Price:
        """Both together, for the same unit; a bound if either is one."""
        if other.unit is not self.unit:
            raise ValueError(f"a price for one {self.unit} and one for one {other.unit} have no sum")
        return replace(self, usd=self.usd + other.usd, bound=self.bound or other.bound)


_GITHUB = Source(name="GitHub docs, Actions runner pricing", read="2026-04-25")

HOSTED_RUNNERS: Mapping[str, Price] = MappingProxyType(
    {
        "linux-4-core-gpu": Price(usd=Decimal("0.052"), unit=Unit.MINUTE, source=_GITHUB),
        "windows-4-core-gpu": Price(usd=Decimal("0.102"), unit=Unit.MINUTE, source=_GITHUB),
    }
)
"""GitHub's own GPU runners: 4 vCPU, 28 GB, one T4. Minutes are rounded up for each job, and none are free."""


def hosted_runner(name: str = "linux-4-core-gpu") -> Price:
    """A minute on one of GitHub's own GPU runners."""
    try:
        return HOSTED_RUNNERS[name]
    except KeyError:
        raise UnknownName("hosted GPU runner", name, HOSTED_RUNNERS) from None


def dollars(amount: Decimal) -> str:
    """An amount for a person: to the cent, and below a dollar to a tenth of one."""
    places = Decimal("0.01") if abs(amount) >= 1 or not amount else Decimal("0.001")
    return f"{amount.quantize(places):,} USD"
