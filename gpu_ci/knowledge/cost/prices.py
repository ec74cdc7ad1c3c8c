"""Prices, the length of a month, and the price of GitHub's own GPU runners.

Every price is an exact decimal in US dollars before tax, with its source and the date on which it was read. No cloud is
queried, so a price can have changed since that date.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Final

HOURS_A_MONTH: Final = 730
"""The 8760 hours of a year divided by twelve, as in the clouds' own calculators."""


class Unit(StrEnum):
    """The unit of a price."""

    HOUR = "hour"
    MINUTE = "minute"
    MONTH = "month"
    GB = "GB"
    GB_MONTH = "GB-month"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The origin of a price."""

    name: str
    read: str
    """The date on which it was read, for example `2026-08-20`, as precise as known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """The price of one unit."""

    usd: Decimal
    unit: Unit
    source: Source
    bound: bool = False
    """True where this is an upper bound, and the price itself is not known."""

    def times(self, factor: int) -> Price:
        """Return the price of `factor` items."""
        return replace(self, usd=self.usd * factor)

    def plus(self, other: Price) -> Price:
        """Return the price of both together; a bound if either is one."""
        return replace(self, usd=self.usd + other.usd, bound=self.bound or other.bound)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoPrice:
    """The result of a look-up in a table that has no such price."""

    item: str
    """The item without a price, for example `n1-standard in europe-west4`."""
    table: str
    """The file of the table."""
    known: tuple[str, ...]
    """Regions or kinds for which the table has the price."""


HOSTED_RUNNER: Final = Price(
    usd=Decimal("0.052"),
    unit=Unit.MINUTE,
    source=Source(name="GitHub docs, Actions runner pricing", read="2026-04-25"),
)
"""`linux-4-core-gpu`, GitHub's own runner with 4 vCPUs, 28 GB and one T4. Each job's minutes are rounded up."""


def dollars(amount: Decimal) -> str:
    """Return an amount as text: to the cent, and below one dollar to a tenth of a cent."""
    places = Decimal("0.01") if abs(amount) >= 1 or not amount else Decimal("0.001")
    return f"{amount.quantize(places):,} USD"
