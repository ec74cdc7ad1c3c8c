"""What one finished job costs and takes, when the machine under it can be taken away.

A CI job has no checkpoint: interrupted, it starts again from nothing. Interruptions come independently at a rate of
`rate` an hour, so an attempt at a job of `L` hours survives with probability exp(-rate L) and runs for
(1 - exp(-rate L)) / rate hours on average, which makes (exp(rate L) - 1) / rate hours until one attempt survives. As
`rate L` goes to nothing both go to `L`; where it is large, the job is held to be without end. To that come the start of
a machine for each attempt, which is paid for, and the time until a lost job runs again, which is not. Where
at most `k` attempts are made on spot, the last resort is one attempt on demand. How often machines are taken away is
known in `gpu.cost.interruptions`, which way is best in `checks.spot_plan`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from statistics import NormalDist

_POINTS = 101
"""Equally likely lengths that stand for a distribution: their mean is within a percent of the true one."""
_MICRO = Decimal("0.000001")
_NO_END = 1e9
"""Hours from which a job is said to have no end: a hundred thousand years, which still are a number to reckon with."""
_SMALL = 1e-4
_Z95 = NormalDist().inv_cdf(0.95)


class Strategy(StrEnum):
    """Which machines a job is tried on."""

    SPOT = "spot"
    ON_DEMAND = "on-demand"
    SPOT_THEN_ON_DEMAND = "spot-then-on-demand"


@dataclass(frozen=True, slots=True, kw_only=True)
class Length:
    """How long a job runs when nothing disturbs it."""

    minutes: float
    """The typical length: all of them where `p95` is not stated, else the median."""
    p95: float | None = None
    """The length that one job in twenty exceeds; between the two, lengths are taken to be log-normal."""
    limit: float | None = None
    """The timeout, at which GitHub ends a job."""

    def points(self) -> tuple[float, ...]:
        """Equally likely lengths in minutes."""
        return _points(self.minutes, self.p95, self.limit)

    @property
    def mean(self) -> float:
        """The mean length in minutes."""
        points = self.points()
        return math.fsum(points) / len(points)


@lru_cache(maxsize=1024)
def _points(minutes: float, p95: float | None, limit: float | None) -> tuple[float, ...]:
    most = math.inf if limit is None else limit
    if p95 is None or p95 <= minutes:
        return (min(minutes, most),)
    spread = math.log(p95 / minutes) / _Z95
    normal = NormalDist()
    return tuple(
        min(most, minutes * math.exp(spread * normal.inv_cdf((index + 0.5) / _POINTS))) for index in range(_POINTS)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a job meets."""

    length: Length
    rate: float
    """Interruptions of a spot machine in an hour."""
    spot_hour: Decimal
    """What an hour of a spot machine costs with its disk."""
    on_demand_hour: Decimal
    start_minutes: float = 3.0
    """From asking for a machine until the job runs on it; paid for."""
    retry_minutes: float = 10.0
    """From an interruption until the job is queued again: GitHub has to give the runner up first."""
    shortage: float = 0.0
    """The share of attempts that find no spot machine to be had."""
    shortage_minutes: float = 60.0
    """How long such an attempt waits, where there is nothing but spot."""
    fallback_minutes: float = 10.0
    """How long it waits until on-demand is tried, where there is that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What to expect of one job until it is finished."""

    strategy: Strategy
    attempts: float
    """Attempts on spot."""
    fallback: float
    """The probability that it ends on demand."""
    minutes: float
    """From being picked up to being finished, attempts that were lost included."""
    spot_hours: float
    """Paid hours of spot machines."""
    on_demand_hours: float
    cost: Decimal
    """Exact for these hours, which are rounded to a millionth."""


def outcome(terms: Terms, strategy: Strategy, attempts: int = 2) -> Outcome:
    """What to expect of a job; `attempts` is how often spot is tried before on-demand, where that is the strategy."""
    each = [_fixed(terms, strategy, attempts, minutes / 60) for minutes in terms.length.points()]
    tries, fallback, hours, spot, on_demand = (math.fsum(column) / len(each) for column in zip(*each, strict=True))
    return Outcome(
        strategy=strategy,
        attempts=tries,
        fallback=fallback,
        minutes=hours * 60,
        spot_hours=spot,
        on_demand_hours=on_demand,
        cost=exact(spot) * terms.spot_hour + exact(on_demand) * terms.on_demand_hour,
    )


def exact(hours: float) -> Decimal:
    """Hours that were reckoned with logarithms, as a decimal of six places; infinite where they have no end."""
    return Decimal(hours).quantize(_MICRO) if hours < _NO_END else Decimal("Infinity")


def _fixed(terms: Terms, strategy: Strategy, most: int, length: float) -> tuple[float, float, float, float, float]:
    """Attempts, fallback, hours until finished, spot hours and on-demand hours for one length in hours."""
    start = terms.start_minutes / 60
    if strategy is Strategy.ON_DEMAND:
        return 0.0, 1.0, length + start, 0.0, length + start
    met = terms.rate * length
    lost = -math.expm1(-met)
    retry, shortage = terms.retry_minutes / 60, terms.shortage
    if strategy is Strategy.SPOT:
        losses = _expm1(met)
        tries = 1 + losses
        spot = length * (1 + _beyond(met)) + _of(tries, start)
        waiting = _of(tries, shortage * terms.shortage_minutes / 60)
        return tries, 0.0, spot + _of(losses, retry) + waiting, spot, 0.0
    run = length * (lost / met if met else 1.0)
    again = (1 - shortage) * lost
    rounds = math.fsum(again**index for index in range(most))
    tries = (1 - shortage) * rounds
    without = shortage * rounds
    fallback = without + again**most
    spot, on_demand = tries * (run + start), fallback * (length + start)
    return (
        tries,
        fallback,
        spot + on_demand + tries * lost * retry + without * terms.fallback_minutes / 60,
        spot,
        on_demand,
    )


def _expm1(met: float) -> float:
    try:
        return math.expm1(met)
    except OverflowError:
        return math.inf


def _beyond(met: float) -> float:
    """What (exp(x) - 1) / x is beyond 1: by its series where the difference would lose every digit."""
    return met / 2 * (1 + met / 3) if met < _SMALL else (_expm1(met) - met) / met


def _of(times: float, each: float) -> float:
    """Nothing, however often, is nothing."""
    return times * each if each else 0.0
