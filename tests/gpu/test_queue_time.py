"""How long jobs wait for a runner, what would help, and how they wait for each other."""

from __future__ import annotations

import math
import random
import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.queue_time import judge
from config.machines import PoolSettings
from config.runners import ArcBackEnd
from gpu.machines.levers import levers
from gpu.machines.queue_steps import BackEnd, QueueFacts, queue_wait, stages
from gpu.machines.start_up import Step, Wait, fast_pull, pull, wait
from gpu.machines.waiting_line import Line, erlang_c, of_month
from gpu.verdict import Level

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.pure

T4 = QueueFacts(
    path="runners.gpu-t4",
    pool="gpu-pools.t4-spot",
    image_gib=5,
    nvme=True,
    node_month=Decimal("196.97"),
    max_runners=5,
)
"""A runner on an empty spot pool of g4dn.xlarge."""

times = st.builds(
    lambda p50, factor: Step(name="step", p50=p50, p95=p50 * factor, source="a test"),
    st.floats(1, 300),
    st.floats(1, 5),
)


def cold(**changes: Any) -> Wait:
    return queue_wait(replace(T4, **changes))


# The steps and their sum.


def test_a_job_on_an_empty_pool_goes_through_every_step() -> None:
    assert [step.name for step in stages(T4)] == [
        "GitHub hands the job out",
        "the controller makes the runner's pod",
        "the autoscaler sees the pod",
        "a GPU node starts and joins",
        "the device plugin offers the GPU",
        "the image of 5 GiB is pulled",
        "the runner starts and takes the job",
    ]


def test_a_waiting_runner_leaves_only_the_dispatch() -> None:
    assert [step.name for step in stages(replace(T4, min_runners=1))] == ["GitHub hands the job out"]


def test_a_machine_of_its_own_is_started_and_registered() -> None:
    steps = stages(replace(T4, back_end=BackEnd.CIRUN, image_gib=None))

    assert [step.name for step in steps] == [
        "GitHub hands the job out", "a machine of its own starts", "cirun registers the runner on it",
    ]  # fmt: skip


def test_pulling_takes_what_was_published_for_nine_gigabytes() -> None:
    nine = 9 / 1.073741824

    assert pull(nine).p50 == pytest.approx(130.8, rel=0.05)
    assert fast_pull(nine).p50 == pytest.approx(39.6, rel=0.1)


def test_one_step_keeps_its_percentiles() -> None:
    one = wait((Step(name="a", p50=20, p95=60, source="b"),))

    assert (one.p50, one.p95) == pytest.approx((20, 60))


def test_nothing_takes_no_time() -> None:
    assert wait(()) == Wait(p50=0, p95=0)


@pytest.mark.parametrize(
    "facts", [T4, replace(T4, image_gib=20), replace(T4, min_nodes=1)], ids=["usual", "large", "kept"]
)
def test_the_sum_agrees_with_a_simulation(facts: QueueFacts) -> None:
    rng = random.Random(3)  # noqa: S311  # dice, not secrets
    steps = [(math.log(step.p50), math.log(step.p95 / step.p50) / 1.6448536) for step in stages(facts)]
    sums = sorted(math.fsum(math.exp(rng.gauss(*step)) for step in steps) for _ in range(20_000))
    reckoned = queue_wait(facts)

    assert (reckoned.p50, reckoned.p95) == pytest.approx((sums[10_000], sums[19_000]), rel=0.03)


@given(st.lists(times, min_size=1, max_size=6), times)
@settings(max_examples=60)
def test_a_further_step_never_shortens_the_typical_wait(steps: list[Step], further: Step) -> None:
    before, after = wait(tuple(steps)), wait((*steps, further))

    assert after.p50 >= before.p50 * 0.999
    assert after.p95 >= after.p50


@given(st.floats(0.1, 60), st.floats(0.1, 20))
@settings(max_examples=40)
def test_a_larger_image_never_takes_less(gib: float, more: float) -> None:
    assert cold(image_gib=gib + more).p95 > cold(image_gib=gib).p95
    assert cold(image_gib=gib, fast_image_pull=True).p95 <= cold(image_gib=gib).p95


def test_the_chapter_has_the_figures_that_are_reckoned_with() -> None:
    chapter = (Path(__file__).resolve().parents[2] / "docs/explanation/checks/queue-time.md").read_text()
    rows = [f"| {step.name} | {step.p50:.0f} s | {step.p95:.0f} s |" for step in stages(T4) if "image" not in step.name]

    assert [row for row in rows if row not in chapter] == []
    assert len(rows) == 6


# What would help.


def hindrance(name: str, facts: QueueFacts) -> str:
    return next(lever.hindrance for lever in levers(facts) if lever.name == name)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"vcpus": 2}, "it needs 4 vCPU and 7 GiB of memory"),
        ({"memory_mib": 4096}, "it needs 4 vCPU and 7 GiB of memory"),
        ({"nvme": False, "disk_mibps": 400}, "it needs a disk of 600 MiB/s, and this one has 400"),
        ({"fast_image_pull": True}, "it is on already"),
        ({"nvme": False, "disk_mibps": 600}, ""),
        ({}, ""),
    ],
)  # fmt: skip
def test_parallel_pulling_helps_only_where_nodeadm_and_the_disk_allow_it(changes: dict[str, Any], why: str) -> None:
    assert hindrance("pulling in parallel", replace(T4, **changes)) == why


def test_every_lever_is_a_key_of_the_stack_file() -> None:
    pool, runner = (set(section.model_fields) for section in (PoolSettings, ArcBackEnd))
    known = {f"gpu-pools.t4-spot.{key}" for key in pool} | {f"runners.gpu-t4.arc.{key}" for key in runner}
    named = [re.fullmatch(r"set ([\w.-]+): (true|1)", lever.change) for lever in levers(T4)]

    assert len(named) == 3
    assert [lever[1] for lever in named if lever and lever[1].replace("-image-", "_image_") not in known] == []


def test_parallel_pulling_that_nodeadm_leaves_out_saves_nothing() -> None:
    assert cold(vcpus=2, fast_image_pull=True) == cold(vcpus=2)


# What is said.


def test_without_a_target_the_wait_is_told_with_every_step_and_its_source() -> None:
    (verdict,) = judge(T4)

    assert (verdict.check, verdict.level, verdict.subject) == ("queue-time", Level.OK, "runners.gpu-t4")
    assert verdict.reason == "a job waits 4.1 minutes for a runner, one in twenty more than 7.2"
    assert len(verdict.chain) == 7
    assert "Cluster Autoscaler FAQ" in verdict.chain[2]


def test_a_target_that_is_met_is_good() -> None:
    (verdict,) = judge(replace(T4, target_minutes=8))

    assert verdict.level is Level.OK
    assert verdict.reason.endswith(", within its target of 8")


def test_a_target_that_some_jobs_miss_names_the_cheapest_lever_that_is_enough() -> None:
    (verdict,) = judge(replace(T4, target_minutes=5))

    assert (verdict.level, verdict.subject) == (Level.WARNING, "runners.gpu-t4.queue-target-minutes")
    assert verdict.fix == "set gpu-pools.t4-spot.fast-image-pull: true (at no running cost)"
    assert not any("warm pool" in step or "bake" in step for step in verdict.chain)


def test_a_target_that_most_jobs_miss_is_an_error_and_what_costs_is_named_with_its_cost() -> None:
    (verdict,) = judge(replace(T4, target_minutes=2))

    assert verdict.level is Level.ERROR
    assert verdict.fix == "set gpu-pools.t4-spot.min: 1 (196.97 USD a month)"


def test_a_price_that_is_not_known_is_not_taken_for_nothing() -> None:
    (verdict,) = judge(replace(T4, target_minutes=2, node_month=None))

    assert verdict.fix == "set gpu-pools.t4-spot.min: 1 (at a price that is not known)"


def test_where_nothing_helps_that_is_said() -> None:
    (verdict,) = judge(replace(T4, back_end=BackEnd.CIRUN, image_gib=None, target_minutes=1))

    assert verdict.level is Level.ERROR
    assert verdict.fix == "nothing that can be stated makes it shorter: raise it to 3"


# Waiting for each other.


@pytest.mark.parametrize(("load", "busy"), [(0.1, 0.1), (0.5, 0.5), (0.9, 0.9), (1.5, 1.0), (0.0, 0.0)])
def test_with_one_runner_a_job_waits_as_often_as_it_is_busy(load: float, busy: float) -> None:
    assert erlang_c(1, load) == pytest.approx(busy)


@given(st.integers(1, 40), st.floats(0.01, 0.99))
@settings(max_examples=80)
def test_erlang_c_is_its_sum(servers: int, use: float) -> None:
    load = servers * use
    last = load**servers / math.factorial(servers) / (1 - use)
    closed = last / (math.fsum(load**n / math.factorial(n) for n in range(servers)) + last)

    assert erlang_c(servers, load) == pytest.approx(closed, rel=1e-9)


def test_two_runners_by_hand() -> None:
    line = Line(arrivals_per_hour=6, minutes=10, runners=2)

    # One Erlang on two runners: a third waits, and then for ten minutes over the one spare runner.
    assert line.waits == pytest.approx(1 / 3)
    assert line.mean_wait_minutes == pytest.approx(10 / 3)
    assert line.p95_wait_minutes == pytest.approx(10 * math.log(20 / 3))


def test_a_line_without_end_waits_for_ever() -> None:
    assert Line(arrivals_per_hour=12, minutes=10, runners=2).mean_wait_minutes == math.inf


def test_a_thousand_runners_do_not_overflow() -> None:
    assert 0 < erlang_c(1000, 950) < 1


@given(st.floats(0.1, 50), st.floats(1, 120), st.integers(1, 20))
@settings(max_examples=60)
def test_a_further_runner_never_makes_jobs_wait_longer(arrivals: float, minutes: float, runners: int) -> None:
    fewer = Line(arrivals_per_hour=arrivals, minutes=minutes, runners=runners)

    assert replace(fewer, runners=runners + 1).mean_wait_minutes <= fewer.mean_wait_minutes


def test_a_maximum_below_the_load_is_warned_of_with_what_is_enough() -> None:
    _, verdict = judge(replace(T4, jobs_per_month=6600, minutes=12, max_runners=5))

    assert (verdict.level, verdict.subject) == (Level.WARNING, "runners.gpu-t4.arc.max")
    assert verdict.fix == "set it to at least 7, and gpu-pools.t4-spot.max with it"
    assert of_month(6600, 12, 7).stable


def test_waiting_at_the_maximum_is_told_and_held_against_the_target() -> None:
    busy = replace(T4, jobs_per_month=4400, minutes=12, max_runners=5)
    _, told = judge(busy)
    _, late = judge(replace(busy, target_minutes=7))

    assert told.level is Level.OK
    assert told.reason == "at 5 runners a job waits 6.6 minutes for another to end, one in twenty more than 28.9"
    assert (late.level, late.fix) == (Level.WARNING, "set it to at least 7, and gpu-pools.t4-spot.max with it")


@pytest.mark.parametrize(
    ("short", "said"),
    [
        ({"vcpus": 2, "nvme": True}, "it needs 4 vCPU and 7 GiB of memory"),
        ({"memory_mib": 4096, "nvme": True}, "it needs 4 vCPU and 7 GiB of memory"),
        ({"disk_mibps": 400}, "it needs a disk of 600 MiB/s, and this one has 400"),
    ],
)
def test_parallel_pulling_that_is_no_help_is_warned_of(short: dict[str, Any], said: str) -> None:
    facts = QueueFacts(path="runners.gpu-t4", pool="gpu-pools.t4-spot", fast_image_pull=True, **short)

    (warning,) = [verdict for verdict in judge(facts) if verdict.level is Level.WARNING]

    assert warning.subject == "gpu-pools.t4-spot.fast-image-pull"
    assert warning.reason.endswith(said)
    assert warning.fix


@pytest.mark.parametrize("enough", [{"nvme": True}, {"disk_mibps": 600}, {"fast_image_pull": False}])
def test_parallel_pulling_that_helps_or_is_off_is_not(enough: dict[str, Any]) -> None:
    facts = QueueFacts(**{"path": "runners.gpu-t4", "fast_image_pull": True, **enough})

    assert [verdict.level for verdict in judge(facts)] == [Level.OK]


# Way-outs, followed to the letter.


WAYS_OUT: tuple[tuple[str, Callable[[int], dict[str, Any]]], ...] = (
    (r"set gpu-pools\.t4-spot\.fast-image-pull: true \(at no running cost\)()", lambda _: {"fast_image_pull": True}),
    (r"set gpu-pools\.t4-spot\.min: (1) \(196\.97 USD a month\)", lambda number: {"min_nodes": number}),
    (r"set runners\.gpu-t4\.arc\.min: (1) \(196\.97 USD a month\)", lambda number: {"min_runners": number}),
    (r"state gpu-pools\.t4-spot\.disk\.throughput: (\d+), or leave fast-image-pull out",
     lambda number: {"disk_mibps": number}),
    (r"nothing that can be stated makes it shorter: raise it to (\d+)", lambda number: {"target_minutes": number}),
    (r"set it to at least (\d+), and gpu-pools\.t4-spot\.max with it", lambda number: {"max_runners": number}),
)  # fmt: skip


def followed(facts: QueueFacts, fix: str) -> QueueFacts:
    """What the stack file would say then."""
    ((found, change),) = [(found, change) for form, change in WAYS_OUT if (found := re.fullmatch(form, fix))]
    return replace(facts, **change(int(found[1] or 0)))


@given(
    st.sampled_from(BackEnd),
    st.integers(1, 12),
    st.floats(0.1, 40),
    st.integers(0, 9000),
    st.integers(1, 90),
    st.integers(1, 9),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=120)
def test_each_way_out_ends_what_it_was_said_of(
    back_end: BackEnd, target: int, gib: float, jobs: int, minutes: int, runners: int, fast: bool, nvme: bool
) -> None:
    facts = replace(
        T4,
        back_end=back_end,
        target_minutes=target,
        image_gib=gib if back_end is BackEnd.ARC else None,
        jobs_per_month=jobs,
        minutes=float(minutes),
        max_runners=runners,
        fast_image_pull=fast and back_end is BackEnd.ARC,
        nvme=nvme,
    )
    for verdict in judge(facts):
        if verdict.level is not Level.OK:
            after = judge(followed(facts, verdict.fix))

            assert {one.level for one in after if one.subject == verdict.subject} <= {Level.OK}
