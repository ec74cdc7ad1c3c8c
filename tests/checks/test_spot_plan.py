"""The check on spot pools: lost jobs, and the cost of a finished job on spot and on demand."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest

from gpu_ci.checks.cost.spot_plan import check
from gpu_ci.knowledge.cost import prices_aws
from gpu_ci.knowledge.cost.prices import Price, Source, Unit
from gpu_ci.knowledge.verdict import Level, Verdict
from tests.checks.stacks import stack

pytestmark = pytest.mark.pure

RUNNER = "runners.gpu-t4"
RATE = "gpu-pools/t4-spot/interruptions-per-hour"
TIMEOUT = "runners/gpu-t4/timeout-minutes"
FALLBACK = "runners/gpu-t4/arc/fallback"


def verdict(changes: dict[str, Any], subject: str = RUNNER) -> Verdict:
    (found,) = [one for one in check(stack(changes)) if one.subject == subject]
    return found


def test_a_short_job_on_spot_is_ok_and_shows_both_costs() -> None:
    found = verdict({})

    assert found.level is Level.OK
    assert found.reason == "a finished job costs 0.071 USD on spot, and 0.141 USD on demand"


def test_a_job_on_demand_is_ok_and_shows_the_cost_of_spot() -> None:
    found = verdict({}, "runners.gpu-t4-steady")

    assert found.level is Level.OK
    assert re.fullmatch(r"a finished job costs 0\.\d+ USD on spot, and 1\.\d+ USD on demand", found.reason)


def test_a_job_that_is_often_interrupted_gets_a_warning_with_the_longest_safe_timeout() -> None:
    found = verdict({RATE: 0.1, TIMEOUT: 240})

    assert found.level is Level.WARNING
    assert found.reason == "a spot job of 240 minutes is interrupted 33% of the time and starts again"
    assert found.fix == (
        "name an on-demand pool in runners.gpu-t4.arc.pool and remove runners.gpu-t4.arc.fallback, "
        "or lower runners.gpu-t4.timeout-minutes to 63"
    )
    assert verdict({RATE: 0.1, TIMEOUT: 63}).level is Level.OK
    assert verdict({RATE: 0.1, TIMEOUT: 64}).level is Level.WARNING


def test_no_timeout_is_suggested_if_none_is_short_enough() -> None:
    assert "timeout-minutes" not in verdict({RATE: 10.0, TIMEOUT: 5760}).fix


def test_spot_that_costs_more_than_on_demand_gets_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    dear = Price(usd=Decimal("0.60"), unit=Unit.HOUR, source=Source(name="a test", read="2026"))
    monkeypatch.setattr(prices_aws, "_EC2_SPOT", {"us-west-2": {"g4dn.xlarge": dear}})
    found = verdict({})

    assert found.level is Level.WARNING
    assert re.fullmatch(r"a finished job costs 0\.\d+ USD on spot, and 0\.141 USD on demand", found.reason)
    assert found.fix.startswith("name an on-demand pool in runners.gpu-t4.arc.pool")


def test_an_unknown_spot_price_is_shown_as_an_upper_bound_without_a_warning() -> None:
    found = verdict({"gpu-pools/t4-spot/instance-types": ["g4dn.8xlarge", "g4dn.2xlarge"]})

    assert found.level is Level.OK
    assert found.reason.endswith("(no spot price is known; it is at most the on-demand price)")


def test_the_stated_rate_of_an_on_demand_pool_counts_in_the_comparison() -> None:
    rate = {"gpu-pools/t4-on-demand/interruptions-per-hour": 1.5}

    assert "a spot machine is interrupted 1.5 times an hour" in verdict(rate, "runners.gpu-t4-steady").chain
