"""The way that is taken is among the cheapest, and the days that are played bear it out."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.spot_plan import CLOSE, SpotFacts, choose, judge
from gpu.cost.jobs import Length, Strategy, Terms, outcome
from gpu.kubernetes.priority_expander import Group, priorities
from gpu.verdict import Level
from tests.gpu.simulation import Pool, Result, Setup, Trace, draw, replay

pytestmark = pytest.mark.pure

T4 = Terms(
    length=Length(minutes=12),
    rate=0.02,
    spot_hour=Decimal("0.2479"),
    on_demand_hour=Decimal("0.526"),
    shortage=0.02,
    shortage_minutes=20,
)
"""A short job on a g4dn.xlarge."""
LONG = replace(T4, length=Length(minutes=600), rate=0.25)
"""Ten hours, of which nine in ten are lost on spot."""
MIXED = replace(T4, length=Length(minutes=20, p95=240, limit=720), rate=0.3)
"""Mostly short jobs, with a long tail that seldom survives."""

terms = st.builds(
    Terms,
    length=st.builds(Length, minutes=st.floats(1, 300)),
    rate=st.floats(0, 1),
    spot_hour=st.decimals("0.05", "3", places=3),
    on_demand_hour=st.decimals("0.1", "9", places=3),
    shortage=st.floats(0, 0.3),
)


def test_a_short_job_goes_to_spot_with_something_behind_it() -> None:
    plan = choose(T4)

    assert plan.strategy is Strategy.SPOT_THEN_ON_DEMAND
    assert plan.chosen.cost <= CLOSE * plan.outcomes[Strategy.SPOT].cost


def test_a_long_job_that_is_lost_nine_times_in_ten_goes_to_on_demand() -> None:
    assert choose(LONG).strategy is Strategy.ON_DEMAND


def test_a_long_tail_is_cheapest_when_only_what_was_lost_goes_to_on_demand() -> None:
    plan = choose(MIXED)
    pure = [plan.outcomes[Strategy.SPOT].cost, plan.outcomes[Strategy.ON_DEMAND].cost]

    assert plan.strategy is Strategy.SPOT_THEN_ON_DEMAND
    assert plan.chosen.cost < min(pure)


def test_spot_alone_where_spot_is_never_lost_and_never_short() -> None:
    calm = replace(T4, rate=0.0, shortage=0.0)

    assert choose(calm).chosen.cost == outcome(calm, Strategy.SPOT).cost


def test_the_reason_has_the_figures_of_all_three() -> None:
    assert choose(LONG).reason == (
        "a finished job costs 5.29 USD and takes 603 minutes; "
        "11.24 USD in 2837 minutes on spot, 5.77 USD in 783 minutes on spot-then-on-demand"
    )


@given(terms)
@settings(max_examples=100)
def test_the_chosen_way_costs_at_most_five_percent_more_than_any(met: Terms) -> None:
    plan = choose(met)

    assert all(
        plan.chosen.cost <= CLOSE * outcome(met, each, attempts).cost for each in Strategy for attempts in (1, 2, 3)
    )


@given(terms, st.floats(1.1, 4))
@settings(max_examples=60)
def test_more_interruptions_never_move_a_job_from_on_demand_to_spot(met: Terms, factor: float) -> None:
    worse = choose(replace(met, rate=met.rate * factor + 0.01))

    if choose(met).strategy is Strategy.ON_DEMAND:
        assert worse.strategy is Strategy.ON_DEMAND


def test_both_is_two_pools_and_a_label_by_attempt() -> None:
    plan = choose(MIXED)

    assert plan.groups("t4") == (Group(name="t4-spot", spot=True), Group(name="t4-on-demand", spot=False))
    label = plan.runs_on("gpu-t4", "gpu-t4-steady")
    assert re.fullmatch(r"\$\{\{ github\.run_attempt <= [123] && 'gpu-t4' \|\| 'gpu-t4-steady' \}\}", label)


def test_on_demand_is_one_pool_and_one_label() -> None:
    plan = choose(LONG)

    assert plan.groups("t4") == (Group(name="t4-on-demand", spot=False),)
    assert plan.runs_on("gpu-t4", "gpu-t4-steady") == "gpu-t4-steady"


# What a runner has, against what it should have.


def test_long_jobs_on_spot_are_warned_of_with_both_prices() -> None:
    *_, verdict = judge(SpotFacts(path="runners.gpu-t4", terms=LONG, spot=True))

    assert (verdict.check, verdict.level, verdict.subject) == ("spot-plan", Level.WARNING, "runners.gpu-t4")
    assert verdict.reason == "on spot a finished job costs 11.24 USD, on on-demand 5.29 USD"
    assert verdict.fix == "name an on-demand pool in runners.gpu-t4.arc.pool"


def test_a_timeout_that_spot_seldom_lives_to_see_is_warned_of() -> None:
    (verdict,) = judge(
        SpotFacts(path="runners.gpu-t4", terms=replace(T4, length=Length(minutes=12, p95=20, limit=360)), spot=True)
    )
    calm = replace(T4, length=Length(minutes=12, p95=20, limit=300))

    assert verdict.level is Level.WARNING
    assert verdict.reason == "a spot job of 360 minutes is lost 11% of the time, and starts again from nothing"
    assert [one.level for one in judge(SpotFacts(path="runners.gpu-t4", terms=calm, spot=True))] == [Level.OK]


def facts(met: Terms, **changes: Any) -> SpotFacts:
    return replace(SpotFacts(path="runners.gpu-t4", terms=met, spot=True), **changes)


def test_the_timeout_that_is_named_is_the_longest_that_is_not_warned_of() -> None:
    (warning,) = judge(facts(replace(T4, length=Length(minutes=12, limit=360))))
    named = re.fullmatch(
        r"name an on-demand pool in runners\.gpu-t4\.arc\.pool, or lower runners\.gpu-t4\.timeout-minutes to (\d+)",
        warning.fix,
    )
    assert named is not None
    lowered, beyond = (replace(T4, length=Length(minutes=12, limit=int(named[1]) + more)) for more in (0, 1))

    assert [each.level for each in judge(facts(lowered))] == [Level.OK]
    assert [each.level for each in judge(facts(beyond))] == [Level.WARNING]


@given(terms, st.booleans())
@settings(max_examples=80)
def test_the_pool_that_is_named_ends_the_warning(met: Terms, fallback: bool) -> None:
    followed = {
        "name an on-demand pool in runners.gpu-t4.arc.pool": {"spot": False},
        "name an on-demand pool in runners.gpu-t4.arc.pool and leave runners.gpu-t4.arc.fallback out": {
            "spot": False,
            "fallback": False,
        },
        "name an on-demand pool in runners.gpu-t4.arc.fallback": {"fallback": True},
        "leave runners.gpu-t4.arc.fallback out": {"fallback": False},
    }
    for warning in judge(facts(met, fallback=fallback)):
        if warning.level is Level.WARNING:
            fix = warning.fix.partition(", or")[0]
            left = judge(facts(met, **{"fallback": fallback, **followed[fix]}))

            assert warning.reason not in {each.reason for each in left}


def test_where_no_timeout_is_short_enough_none_is_named() -> None:
    warning, *_ = judge(facts(replace(T4, rate=10.0, length=Length(minutes=12, limit=60))))

    assert warning.fix == "name an on-demand pool in runners.gpu-t4.arc.pool"


def test_a_job_that_never_lasts_on_spot_is_told_without_figures_of_fantasy() -> None:
    never = replace(T4, rate=1.0, length=Length(minutes=2400, limit=2400))
    *_, verdict = judge(facts(never))

    assert verdict.reason.startswith("on spot a finished job costs without end, on on-demand")
    assert "spot: a job is never finished" in verdict.chain


def test_on_demand_by_choice_is_no_fault_and_shows_what_it_costs() -> None:
    (verdict,) = judge(SpotFacts(path="runners.steady", terms=T4, spot=False))

    assert verdict.level is Level.OK
    assert verdict.reason == ("on-demand: a finished job costs 0.132 USD; spot-then-on-demand would be 0.064 USD")


def test_a_bound_is_no_price_to_warn_with() -> None:
    unknown = replace(LONG, spot_hour=LONG.on_demand_hour, length=Length(minutes=60), rate=0.1)
    verdicts = judge(SpotFacts(path="runners.gpu-t4", terms=unknown, spot=True, bound=True))

    assert [verdict.level for verdict in verdicts] == [Level.OK]
    assert "no spot price is known" in verdicts[0].reason


# Days that are played.


def asg(name: str) -> str:
    return f"eks-{name}-202611210102030456000000a1-5ec1f0a2-7b2c-3c4d-9e8f-1a2b3c4d5e6f"


def setup(met: Terms, strategy: Strategy, attempts: int, most: int = 400) -> Setup:
    """The pools and priorities that carry a strategy out."""
    groups = [
        group
        for group, unused in (
            (Group(name="t4-spot", spot=True), Strategy.ON_DEMAND),
            (Group(name="t4-on-demand", spot=False), Strategy.SPOT),
        )
        if strategy is not unused
    ]
    return Setup(
        pools=tuple(
            Pool(
                asg=asg(group.name),
                spot=group.spot,
                most=most,
                hour=float(met.spot_hour if group.spot else met.on_demand_hour),
            )
            for group in groups
        ),
        priorities=priorities(groups),
        attempts=attempts if strategy is Strategy.SPOT_THEN_ON_DEMAND else None,
        start_minutes=met.start_minutes,
        retry_minutes=met.retry_minutes,
    )


def days(met: Terms, seed: int, jobs: int = 800) -> Trace:
    return draw(
        seed,
        jobs,
        per_hour=6,
        length=met.length,
        rate=met.rate,
        shortage=met.shortage,
        drought_minutes=met.shortage_minutes,
    )


def played(met: Terms, seed: int, most: int = 400) -> tuple[Result, Result, Result]:
    """The chosen plan, spot alone and on-demand alone on the same days."""
    plan, trace = choose(met), days(met, seed)
    return tuple(  # type: ignore[return-value]  # three by construction
        replay(trace, setup(met, strategy, plan.attempts, most))
        for strategy in (plan.strategy, Strategy.SPOT, Strategy.ON_DEMAND)
    )


@pytest.mark.parametrize("met", [T4, LONG, MIXED], ids=["short", "long", "mixed"])
def test_on_the_same_days_the_chosen_way_is_within_its_five_percent_and_not_slower_than_spot(met: Terms) -> None:
    weeks = [played(met, seed) for seed in (1, 2, 3, 4)]
    chosen, spot, on_demand = (fmean(each.mean_cost for each in ways) for ways in zip(*weeks, strict=True))

    assert chosen <= float(CLOSE) * min(spot, on_demand)
    assert all(each.p95_minutes <= alone.p95_minutes for each, alone, _ in weeks)


@pytest.mark.parametrize("strategy", list(Strategy))
def test_the_played_days_agree_with_the_formula(strategy: Strategy) -> None:
    met = replace(T4, length=Length(minutes=90), rate=0.3, shortage=0.0)
    result = replay(days(met, 11, jobs=5_000), setup(met, strategy, 2, most=10_000))
    expected = outcome(met, strategy, 2)

    assert result.mean_cost == pytest.approx(float(expected.cost), rel=0.04)
    assert sum(result.minutes) / len(result.minutes) == pytest.approx(expected.minutes, rel=0.04)


def test_in_a_drought_spot_waits_and_the_fallback_does_not() -> None:
    trace = Trace(arrivals=(10.0,), lengths=(12.0,), survivals=((1e9,),), droughts=((0.0, 60.0),))
    waits = replay(trace, setup(T4, Strategy.SPOT, 1))
    falls_back = replay(trace, setup(T4, Strategy.SPOT_THEN_ON_DEMAND, 1))

    # Refused at 10, 17, 29 and 51 minutes, two minutes until each refusal is seen, then 5, 10, 20 and 30 of silence.
    assert waits.minutes == (83.0 - 10.0 + 3 + 12,)
    assert falls_back.minutes == (2 + 3 + 12,)
    assert falls_back.mean_cost == pytest.approx(15 / 60 * 0.526)


def test_a_job_that_was_lost_often_enough_asks_for_a_machine_that_stays() -> None:
    trace = Trace(arrivals=(0.0,), lengths=(60.0,), survivals=((30.0, 30.0, 1e9),), droughts=())
    result = replay(trace, setup(T4, Strategy.SPOT_THEN_ON_DEMAND, 2))

    assert result.mean_cost == pytest.approx(2 * 33 / 60 * 0.2479 + 63 / 60 * 0.526)
    assert result.minutes == (2 * (3 + 30 + 10) + 63,)


def test_jobs_beyond_the_pool_wait_their_turn() -> None:
    trace = Trace(arrivals=(0.0, 0.0, 0.0), lengths=(10.0,) * 3, survivals=((1e9,),) * 3, droughts=())

    assert replay(trace, setup(T4, Strategy.SPOT, 1, most=1)).minutes == (13, 26, 39)


def test_the_same_seed_plays_the_same_days() -> None:
    assert played(MIXED, 5) == played(MIXED, 5)
