"""The length of jobs, and the machine hours of jobs that may be interrupted."""

from __future__ import annotations

import math
import random
from statistics import NormalDist, fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_ci.knowledge.cost.jobs import START_MINUTES, hours_with_loss, loss, machine_hours, mean_minutes

pytestmark = pytest.mark.pure

START = START_MINUTES / 60


def test_an_uninterrupted_job_takes_its_length_and_one_start() -> None:
    assert machine_hours(60, 0) == pytest.approx(1 + START)


def test_a_job_that_is_lost_every_second_time_takes_two_attempts() -> None:
    assert machine_hours(60, math.log(2)) == pytest.approx(1 / math.log(2) + 2 * START)


def test_each_lost_attempt_pays_for_a_machine_without_a_job() -> None:
    """With a loss of one half there is one lost attempt for each finished job."""
    assert machine_hours(60, math.log(2), after_loss=20) == pytest.approx(machine_hours(60, math.log(2)) + 20 / 60)
    assert machine_hours(60, 0, after_loss=20) == machine_hours(60, 0)


def test_simulated_jobs_agree_with_the_formula() -> None:
    rng = random.Random(20261121)  # noqa: S311  # a simulation, not a secret

    def simulated(hours: float, rate: float) -> float:
        paid = 0.0
        while (until := rng.expovariate(rate)) < hours:
            paid += START + until
        return paid + START + hours

    assert fmean(simulated(1.5, 0.4) for _ in range(50_000)) == pytest.approx(machine_hours(90, 0.4), rel=0.02)


@given(st.floats(1, 5760), st.floats(0, 10), st.floats(0, 1))
def test_more_interruptions_never_take_fewer_hours(minutes: float, rate: float, more: float) -> None:
    hours = machine_hours(minutes, rate)

    assert math.isfinite(hours)
    assert machine_hours(minutes, rate + more) >= hours - 1e-9


def test_the_loss_of_a_job_grows_with_its_length() -> None:
    assert loss(1, math.log(2)) == pytest.approx(0.5)
    assert loss(hours_with_loss(0.1, 0.02), 0.02) == pytest.approx(0.1)


def test_without_a_percentile_the_mean_is_the_typical_length() -> None:
    assert mean_minutes(12, None, 60) == 12


def test_the_mean_follows_both_percentiles_of_a_log_normal_length() -> None:
    spread = math.log(200 / 12) / NormalDist().inv_cdf(0.95)
    rng = random.Random(3)  # noqa: S311  # a simulation, not a secret
    lengths = [rng.lognormvariate(math.log(12), spread) for _ in range(200_000)]

    assert mean_minutes(12, 200, 5760) == pytest.approx(fmean(lengths), rel=0.05)


def test_the_mean_is_at_most_the_timeout() -> None:
    assert mean_minutes(12, 200, 40) == 40
