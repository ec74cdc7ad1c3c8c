"""The closed formulas for an interrupted job agree with hands, with limits and with a million dice."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from decimal import Decimal, localcontext
from statistics import fmean

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpu.cost.jobs import Length, Strategy, Terms, outcome

pytestmark = pytest.mark.pure

HOUR = Terms(
    length=Length(minutes=60),
    rate=math.log(2),
    spot_hour=Decimal("0.25"),
    on_demand_hour=Decimal("0.50"),
    start_minutes=0,
    retry_minutes=0,
)
"""One hour, of which every second attempt is lost."""

terms = st.builds(
    Terms,
    length=st.builds(Length, minutes=st.floats(1, 600)),
    rate=st.floats(0, 2),
    spot_hour=st.decimals("0.05", "5", places=4),
    on_demand_hour=st.decimals("0.05", "20", places=4),
    start_minutes=st.floats(0, 10),
    retry_minutes=st.floats(0, 30),
    shortage=st.floats(0, 0.9),
)


def test_a_job_that_is_lost_every_second_time_takes_two_attempts() -> None:
    result = outcome(HOUR, Strategy.SPOT)

    assert result.attempts == pytest.approx(2)
    # (exp(ln 2) - 1) / ln 2 hours.
    assert result.spot_hours == pytest.approx(1 / math.log(2))
    assert result.cost == Decimal("1.442695") * Decimal("0.25")


def test_each_attempt_pays_for_its_start_and_each_loss_waits_for_its_retry() -> None:
    result = outcome(replace(HOUR, start_minutes=6, retry_minutes=15), Strategy.SPOT)

    assert result.spot_hours == pytest.approx(1 / math.log(2) + 2 * 0.1)
    assert result.minutes == pytest.approx(60 / math.log(2) + 2 * 6 + 15)


def test_two_attempts_and_then_on_demand_by_hand() -> None:
    result = outcome(HOUR, Strategy.SPOT_THEN_ON_DEMAND, attempts=2)

    # One attempt for certain, a second after a loss, and on-demand after two: each at half the odds of the last.
    assert result.attempts == pytest.approx(1.5)
    assert result.fallback == pytest.approx(0.25)
    assert result.spot_hours == pytest.approx(1.5 * 0.5 / math.log(2))
    assert result.on_demand_hours == pytest.approx(0.25)
    assert result.cost == Decimal("1.082021") * Decimal("0.25") + Decimal("0.25") * Decimal("0.50")


def test_a_shortage_sends_the_job_to_on_demand_at_once() -> None:
    scarce = replace(HOUR, shortage=1.0)
    result = outcome(scarce, Strategy.SPOT_THEN_ON_DEMAND)

    assert (result.attempts, result.fallback) == (0, 1)
    assert result.minutes == pytest.approx(60 + scarce.fallback_minutes)


def test_without_interruptions_every_strategy_takes_the_job_once() -> None:
    calm = replace(HOUR, rate=0.0)

    assert {outcome(calm, strategy).minutes for strategy in Strategy} == {60}
    assert outcome(calm, Strategy.SPOT).cost == Decimal("0.25")
    assert outcome(calm, Strategy.ON_DEMAND).cost == Decimal("0.50")


def test_a_job_that_never_survives_costs_without_end_on_spot_and_ends_on_demand() -> None:
    hopeless = replace(HOUR, rate=1000.0)

    assert outcome(hopeless, Strategy.SPOT).cost == Decimal("Infinity")
    assert outcome(hopeless, Strategy.SPOT_THEN_ON_DEMAND).on_demand_hours == pytest.approx(1)


@pytest.mark.parametrize("rate", [5e-324, 1e-300, 1e-20, 1e-12, 1e-10])
def test_interruptions_that_hardly_ever_come_cost_as_much_as_none(rate: float) -> None:
    rare, calm = replace(HOUR, rate=rate), replace(HOUR, rate=0.0)

    for strategy in Strategy:
        assert outcome(rare, strategy).cost == outcome(calm, strategy).cost
        assert outcome(rare, strategy).minutes == pytest.approx(60, rel=1e-9)


@given(st.floats(0, 60), st.floats(1, 5760))
@settings(max_examples=120)
def test_hours_on_spot_are_those_of_the_formula_with_sixty_digits(rate: float, minutes: float) -> None:
    found = outcome(replace(HOUR, rate=rate, length=Length(minutes=minutes)), Strategy.SPOT).spot_hours
    with localcontext() as exactly:
        exactly.prec = 400
        length, often = Decimal(minutes / 60), Decimal(rate)
        true = ((often * length).exp() - 1) / often if rate * minutes > 1e-200 else length

    assert found == pytest.approx(float(true), rel=1e-9) if true < Decimal("1e300") else found > 1e299


@pytest.mark.parametrize("rate", [1.0, 10.0, 100.0, 1000.0])
def test_a_job_of_two_days_on_spot_that_never_lasts_is_without_end_and_no_fault(rate: float) -> None:
    met = replace(HOUR, rate=rate, length=Length(minutes=2400), start_minutes=0, retry_minutes=0)

    assert outcome(met, Strategy.SPOT).cost == Decimal("Infinity")
    assert not math.isnan(outcome(met, Strategy.SPOT).minutes)
    assert outcome(met, Strategy.SPOT_THEN_ON_DEMAND).cost.is_finite()


def test_lengths_between_a_median_and_a_95th_percentile_have_the_log_normal_mean() -> None:
    length = Length(minutes=20, p95=60)
    spread = math.log(3) / 1.6448536

    assert length.points()[50] == pytest.approx(20)
    assert length.mean == pytest.approx(20 * math.exp(spread**2 / 2), rel=0.01)


def test_no_job_is_longer_than_its_timeout() -> None:
    assert max(Length(minutes=20, p95=120, limit=45).points()) == 45


def dice(rng: random.Random, met: Terms, most: float) -> tuple[float, float, float]:
    """Wall, spot and on-demand hours of one job, attempt by attempt."""
    length, start = met.length.minutes / 60, met.start_minutes / 60
    wall = spot = 0.0
    tried = 0
    while tried < most:
        if met.shortage and rng.random() < met.shortage:
            if most == math.inf:
                wall += met.shortage_minutes / 60
            else:
                return wall + met.fallback_minutes / 60 + start + length, spot, start + length
        tried += 1
        until = rng.expovariate(met.rate)
        spot += start + min(until, length)
        wall += start + min(until, length)
        if until >= length:
            return wall, spot, 0.0
        wall += met.retry_minutes / 60
    return wall + start + length, spot, start + length


def test_a_million_jobs_on_spot_agree_with_the_formula() -> None:
    rng = random.Random(20261121)  # noqa: S311  # dice, not secrets
    count, length = 1_000_000, 1.5
    rate, hours = 0.4, 0.0
    draw, log = rng.random, math.log
    for _ in range(count):
        until = -log(1.0 - draw()) / rate
        while until < length:
            hours += until
            until = -log(1.0 - draw()) / rate
        hours += length
    met = replace(HOUR, length=Length(minutes=90), rate=rate)

    assert hours / count == pytest.approx(outcome(met, Strategy.SPOT).spot_hours, rel=0.005)


@pytest.mark.parametrize("shortage", [0.0, 0.2])
@pytest.mark.parametrize(("strategy", "most"), [(Strategy.SPOT, math.inf), (Strategy.SPOT_THEN_ON_DEMAND, 2)])
def test_dice_agree_with_every_part_of_the_formula(strategy: Strategy, most: float, shortage: float) -> None:
    met = replace(HOUR, rate=0.5, start_minutes=4, retry_minutes=12, shortage=shortage)
    rng = random.Random(7)  # noqa: S311  # dice, not secrets
    rolled = [dice(rng, met, most) for _ in range(40_000)]
    wall, spot, on_demand = (fmean(column) for column in zip(*rolled, strict=True))
    result = outcome(met, strategy, attempts=2)

    assert (wall * 60, spot) == pytest.approx((result.minutes, result.spot_hours), rel=0.02)
    assert on_demand == pytest.approx(result.on_demand_hours, rel=0.03, abs=1e-9)


@given(terms, st.integers(1, 4))
@settings(max_examples=60)
def test_more_attempts_on_spot_mean_less_on_demand(met: Terms, most: int) -> None:
    fewer = outcome(met, Strategy.SPOT_THEN_ON_DEMAND, attempts=most)
    more = outcome(met, Strategy.SPOT_THEN_ON_DEMAND, attempts=most + 1)

    assert more.on_demand_hours <= fewer.on_demand_hours + 1e-9
    assert more.attempts >= fewer.attempts - 1e-9


@given(terms)
@settings(max_examples=60)
def test_without_shortage_endless_attempts_are_spot_alone(met: Terms) -> None:
    plenty = replace(met, shortage=0.0, rate=min(met.rate, 0.3))
    endless = outcome(plenty, Strategy.SPOT_THEN_ON_DEMAND, attempts=2000)

    assert endless.spot_hours == pytest.approx(outcome(plenty, Strategy.SPOT).spot_hours, rel=1e-6)


@given(terms, st.floats(1.01, 3))
@settings(max_examples=60)
@example(replace(HOUR, rate=5e-324, length=Length(minutes=75.7)), 1.5)
@example(replace(HOUR, rate=1.0, length=Length(minutes=2400)), 2.0)
def test_more_interruptions_never_make_spot_cheaper(met: Terms, factor: float) -> None:
    assert outcome(replace(met, rate=met.rate * factor), Strategy.SPOT).cost >= outcome(met, Strategy.SPOT).cost
