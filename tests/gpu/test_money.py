"""A month costs what hands reckon, keeps its laws, and is held against its limits."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.money import BreakEven, Limit, break_even, judge, reckon
from gpu.cost.estate import Build, ControlPlane, Disk, Estate, Fleet, HostImages, Keys, Load, Network, Registry, Way
from gpu.cost.jobs import Length
from gpu.cost.month import Case, bill, disk_month, job_minutes, node_month
from gpu.cost.unpriced import part
from gpu.regions import Cloud
from gpu.verdict import Level

if TYPE_CHECKING:
    from gpu.verdict import Verdict

pytestmark = pytest.mark.pure

OREGON = "us-west-2"
SYSTEM = Fleet(path="system-nodes", region=OREGON, machines=("t3.medium",), min_size=2, max_size=4, disk=Disk(gib=20))
POOL = Fleet(
    path="gpu-pools.t4-spot",
    region=OREGON,
    machines=("g4dn.xlarge", "g4dn.2xlarge"),
    spot=True,
    min_size=0,
    max_size=5,
    limit="gpu-pools.t4-spot.max",
    disk=Disk(gib=200, mibps=400),
    start_minutes=3,
    tail_minutes=5,
)
JOBS = Load(path="runners.gpu-t4", fleet=POOL.path, jobs_per_month=600, minutes=12, limit_minutes=60)
STACK = Estate(
    control_planes=(ControlPlane(path="cluster", region=OREGON, logs_gb=Decimal(0)),),
    networks=(Network(path="network", region=OREGON, gateways=1),),
    fleets=(SYSTEM, POOL),
    loads=(JOBS,),
)

SIZES = st.integers(0, 6)
fleets = st.builds(
    lambda machines, spot, least, more, gib, mibps: replace(
        POOL, machines=machines, spot=spot, min_size=least, max_size=least + more, disk=Disk(gib=gib, mibps=mibps)
    ),
    st.lists(st.sampled_from(["g4dn.xlarge", "g5.xlarge", "g6.xlarge", "g4dn.12xlarge"]), min_size=1, max_size=3).map(
        tuple
    ),
    st.booleans(),
    SIZES,
    SIZES,
    st.integers(1, 500),
    st.integers(125, 1000),
)
loads = st.builds(
    lambda jobs, minutes, waiting: replace(JOBS, jobs_per_month=jobs, minutes=minutes, min_runners=waiting),
    st.integers(0, 20_000),
    st.integers(1, 600),
    st.integers(0, 4),
)
estates = st.builds(
    lambda fleet, load, gateways, extended, gb: Estate(
        control_planes=(ControlPlane(path="cluster", region=OREGON, extended=extended),),
        networks=(Network(path="network", region=OREGON, gateways=gateways, traffic_gb=Decimal(gb)),),
        fleets=(fleet,),
        loads=(load,),
        registries=(Registry(path="ecr.runner", region=OREGON, gb=Decimal(gb)),),
        keys=(Keys(path="cluster", region=OREGON),),
    ),
    fleets,
    loads,
    st.integers(0, 3),
    st.booleans(),
    st.integers(0, 500),
)


def of(fleet: Fleet, case: Case, *jobs: Load) -> Decimal:
    return bill(Estate(fleets=(fleet,), loads=jobs), case).total


# By hand.


def test_an_idle_month_is_control_plane_gateway_address_and_two_small_nodes() -> None:
    idle = bill(STACK, Case.IDLE)

    assert {(line.path, line.what): line.month for line in idle.lines} == {
        ("cluster", "control plane, standard support"): Decimal("73.00"),
        ("network", "NAT gateways"): Decimal("32.850"),
        ("network", "their public addresses"): Decimal("3.650"),
        ("system-nodes", "t3.medium, on-demand"): Decimal("60.7360"),
        ("system-nodes", "gp3 disks"): Decimal("3.20"),
    }
    assert idle.total == Decimal("173.436")


def test_an_old_version_costs_six_times_as_much() -> None:
    extended = bill(
        Estate(control_planes=(ControlPlane(path="c", region=OREGON, extended=True, logs_gb=Decimal(0)),)), Case.IDLE
    )

    assert extended.total == Decimal("438.00")


def test_expected_hours_are_jobs_with_their_start_and_their_tail() -> None:
    line = bill(STACK, Case.EXPECTED).lines[-3]

    assert line.what == "g4dn.xlarge, spot"
    assert line.quantity == Decimal(600) * Decimal("0.333333")


def test_at_its_worst_a_pool_is_full_of_its_dearest_type_all_month() -> None:
    worst = [line for line in bill(STACK, Case.WORST).lines if line.path == POOL.path]

    assert [(line.what, line.month) for line in worst] == [
        ("g4dn.2xlarge, spot", 5 * 730 * Decimal("0.320")),
        ("gp3 disks", 5 * 200 * Decimal("0.08")),
        ("their throughput beyond 125 MiB/s", 5 * 275 * Decimal("0.04")),
    ]


def test_interruptions_make_jobs_dearer() -> None:
    calm, wild = (of(replace(POOL, interruptions=rate), Case.EXPECTED, JOBS) for rate in (0.0, 1.0))

    assert wild > calm


def test_jobs_run_first_on_the_nodes_that_are_there_anyway() -> None:
    kept = replace(POOL, min_size=1)

    assert of(kept, Case.EXPECTED, JOBS) == of(kept, Case.IDLE)


def test_a_runner_that_waits_keeps_a_node() -> None:
    waiting = replace(JOBS, min_runners=3)

    assert of(POOL, Case.IDLE, waiting) == of(replace(POOL, min_size=3), Case.IDLE)
    assert of(replace(POOL, jobs_per_node=2), Case.IDLE, waiting) == of(replace(POOL, min_size=2), Case.IDLE)


def test_machines_without_a_limit_are_bounded_by_the_timeout_of_their_jobs() -> None:
    cirun = replace(POOL, max_size=None, cloud=Cloud.GCP, region="us-central1", machines=("n1-standard-4",), gpu="t4", gpus=1,
                    disk=Disk(gib=100, kind="pd-balanced"), tail_minutes=0)  # fmt: skip
    worst = bill(Estate(fleets=(cirun,), loads=(JOBS,)), Case.WORST)

    assert worst.lines[0].quantity == Decimal(600) * Decimal("1.05")
    assert worst.lines[0].unit_price.usd == Decimal("0.2642")
    assert worst.lines[1].what == "pd-balanced disks"


def test_a_node_that_stays_costs_its_month_and_its_disk() -> None:
    assert disk_month(POOL) == Decimal(200) * Decimal("0.08") + Decimal(275) * Decimal("0.04")
    assert node_month(POOL) == Decimal("0.2479") * 730 + disk_month(POOL)


# Laws.


@given(estates)
@settings(max_examples=80)
def test_idle_is_at_most_expected_and_that_at_most_the_worst(estate: Estate) -> None:
    reckoning = reckon(estate)

    assert reckoning.idle.total <= reckoning.expected.total <= reckoning.worst.total


@given(estates)
@settings(max_examples=50)
def test_the_total_is_the_sum_of_its_lines_and_of_its_paths(estate: Estate) -> None:
    for case in Case:
        found = bill(estate, case)

        assert found.total == sum(line.quantity * line.unit_price.usd for line in found.lines)
        assert found.total == sum(found.by_path().values())


@given(fleets, st.integers(1, 9))
@settings(max_examples=50)
def test_many_times_the_nodes_cost_exactly_many_times_as_much(fleet: Fleet, times: int) -> None:
    most = fleet.max_size or 0
    larger = replace(fleet, min_size=fleet.min_size * times, max_size=most * times)

    for case in (Case.IDLE, Case.WORST):
        assert of(larger, case) == times * of(fleet, case)


@given(fleets, loads, st.integers(0, 5))
@settings(max_examples=50)
def test_a_larger_maximum_never_costs_less(fleet: Fleet, load: Load, more: int) -> None:
    larger = replace(fleet, max_size=(fleet.max_size or 0) + more)

    for case in Case:
        assert of(larger, case, load) >= of(fleet, case, load)


@given(fleets, loads)
@settings(max_examples=40)
def test_a_pool_that_can_have_no_node_costs_nothing(fleet: Fleet, load: Load) -> None:
    nothing = replace(fleet, min_size=0, max_size=0)

    for case in Case:
        assert bill(Estate(fleets=(nothing,), loads=(load,)), case).lines == ()


@given(st.permutations(range(4)), fleets)
@settings(max_examples=30)
def test_the_order_of_pools_changes_no_cent(order: list[int], fleet: Fleet) -> None:
    named = [replace(fleet, path=f"gpu-pools.p{index}", min_size=index, max_size=9) for index in range(4)]
    shuffled = Estate(fleets=tuple(named[index] for index in order))

    assert bill(shuffled, Case.WORST).total == bill(Estate(fleets=tuple(named)), Case.WORST).total


# What is said.


def levels(*verdicts: Verdict) -> list[tuple[Level, str]]:
    return [(verdict.level, verdict.subject) for verdict in verdicts]


def test_without_a_limit_all_three_months_are_told() -> None:
    told, compared = judge(STACK)

    assert (told.check, told.level, told.subject) == ("money", Level.OK, "stack")
    assert told.reason == (
        "a month costs 173.44 USD without a job, 230.41 USD with the stated jobs, 1,540.37 USD at its worst"
    )
    assert told.chain[0] == (
        "cluster: control plane, standard support, 730 x hour at 0.1 USD: 73.00 USD (AWS, Amazon EKS pricing, 2026-06)"
    )
    assert compared.level is Level.OK


def test_a_limit_that_is_exceeded_is_an_error_that_names_what_matters_most() -> None:
    verdict, *_ = judge(STACK, [Limit(path="budget.month", usd=Decimal(200))])

    assert (verdict.level, verdict.subject) == (Level.ERROR, "budget.month")
    assert verdict.reason == "the expected month costs 230.41 USD, and 200.00 USD are allowed"
    assert verdict.fix == (
        "system-nodes is 63.94 USD of it: take fewer or cheaper machines there, or raise the limit to 231"
    )


def test_a_limit_on_the_worst_month_is_another() -> None:
    limits = [
        Limit(path="budget.month", usd=Decimal(300)),
        Limit(path="budget.worst", usd=Decimal(1000), case=Case.WORST),
    ]
    verdicts = judge(STACK, limits)

    assert levels(*verdicts[:2]) == [(Level.OK, "budget.month"), (Level.ERROR, "budget.worst")]
    assert verdicts[1].fix.startswith("gpu-pools.t4-spot is 1,303.00 USD of it")


ELSEWHERE = replace(STACK, fleets=(SYSTEM, replace(POOL, region="eu-west-1")))


def test_what_has_no_price_is_left_out_and_the_rest_is_told() -> None:
    warning, told = judge(ELSEWHERE)
    rest = reckon(replace(STACK, fleets=(SYSTEM,), loads=()))

    assert (warning.level, warning.subject) == (Level.WARNING, "gpu-pools.t4-spot")
    assert warning.reason == "eu-west-1 is not a known AWS region with prices, so the month is reckoned without it"
    assert warning.fix.startswith("reckon it by hand, or add the region's prices to gpu/cost/prices_aws.py")
    assert (told.level, told.subject) == (Level.OK, "stack")
    assert told.reason.startswith(f"a month costs {rest.idle.total:,.2f} USD without a job")
    assert told.reason.endswith("; what has no known price is left out of that: gpu-pools.t4-spot")


def test_a_limit_that_cannot_be_checked_is_an_error() -> None:
    (verdict,) = judge(ELSEWHERE, [Limit(path="budget.month", usd=Decimal(9999))])

    assert (verdict.level, verdict.subject) == (Level.ERROR, "gpu-pools.t4-spot")
    assert verdict.reason == "eu-west-1 is not a known AWS region with prices, so the limit cannot be checked"
    assert verdict.fix.startswith("leave budget out, or add the region's prices to gpu/cost/prices_aws.py")
    assert [one.level for one in judge(ELSEWHERE)] == [Level.WARNING, Level.OK]


@given(estates)
@settings(max_examples=30)
def test_nothing_with_a_price_is_left_out(estate: Estate) -> None:
    whole = replace(
        estate,
        host_images=(HostImages(path="host-image", gb=Decimal(30)),),
        builds=(Build(path="host-image", what="to build", machine=BUILDER, minutes=90),),
    )

    assert part(whole) == (whole, ())


def test_of_a_stack_without_any_price_no_month_is_told() -> None:
    verdicts = judge(Estate(fleets=(replace(POOL, region="eu-west-1"),), loads=(JOBS,)))

    assert [(one.level, one.subject) for one in verdicts] == [(Level.WARNING, "gpu-pools.t4-spot")]


CIRUN = Fleet(
    path="runners.cirun",
    cloud=Cloud.GCP,
    region="us-central1",
    machines=("n1-standard-4",),
    spot=True,
    others=(Way(region="us-central1", spot=False),),
    max_size=2,
    limit="runners.cirun.cirun-gcp.at-once",
    disk=Disk(gib=100, kind="pd-balanced"),
    gpu="t4",
    gpus=1,
)


def test_the_worst_month_is_of_the_dearest_market_and_region_that_may_be_tried() -> None:
    on_demand = replace(CIRUN, spot=False, others=())
    dear = replace(CIRUN, others=(Way(region="us-east4", spot=True), Way(region="us-east4", spot=False)))

    assert of(CIRUN, Case.WORST) == of(on_demand, Case.WORST)
    assert of(CIRUN, Case.EXPECTED, replace(JOBS, fleet=CIRUN.path)) < of(
        on_demand, Case.EXPECTED, replace(JOBS, fleet=CIRUN.path)
    )
    assert of(dear, Case.WORST) == of(replace(on_demand, region="us-east4"), Case.WORST)


@given(
    st.permutations([Way(region=region, spot=spot) for region in ("us-central1", "us-east4") for spot in (True, False)])
)
@settings(max_examples=24)
def test_the_order_in_which_machines_are_tried_leaves_the_worst_month_as_it_is(ways: list[Way]) -> None:
    first, *others = ways

    assert of(replace(CIRUN.by(first), others=tuple(others)), Case.WORST) == of(
        replace(CIRUN, region="us-east4", spot=False, others=()), Case.WORST
    )


def test_a_region_without_prices_that_is_only_tried_later_is_left_out_by_itself() -> None:
    tried = Estate(fleets=(replace(CIRUN, others=(Way(region="asia-east1", spot=True),)),))
    warning, told = judge(tried)

    assert warning.reason == (
        "asia-east1 is not a known Google region with prices of n1-standard, so the worst month is reckoned without it"
    )
    assert f"{of(replace(CIRUN, others=()), Case.WORST):,.2f} USD at its worst" in told.reason


def test_a_type_without_a_price_beside_one_that_has_it_is_left_out_by_itself() -> None:
    tried = replace(POOL, machines=("g4dn.xlarge", "p4de.24xlarge"))
    warning, *_ = judge(Estate(fleets=(tried,)))

    assert (warning.subject, warning.level) == (POOL.path, Level.WARNING)
    assert warning.reason.endswith("so the worst month is reckoned without it")
    assert warning.fix.startswith("take ")


def test_the_number_of_machines_of_cirun_is_named_by_its_own_key() -> None:
    busy = Load(path=CIRUN.path, fleet=CIRUN.path, jobs_per_month=9000, minutes=20)
    warning = next(one for one in judge(Estate(fleets=(CIRUN,), loads=(busy,))) if one.level is Level.WARNING)

    assert (warning.subject, warning.fix) == (
        "runners.cirun.cirun-gcp.at-once", "set it to at least 5, or state fewer jobs",
    )  # fmt: skip


def test_runners_that_wait_are_no_jobs() -> None:
    waiting = tuple(replace(JOBS, path=f"runners.{name}", min_runners=3, jobs_per_month=0) for name in "abc")

    assert not any("machine hours" in one.reason for one in judge(Estate(fleets=(POOL,), loads=waiting)))


def test_a_cluster_that_outlives_its_versions_support_costs_six_times_as_much_at_its_worst() -> None:
    stays = Estate(control_planes=(ControlPlane(path="c", region=OREGON, may_extend=True, logs_gb=Decimal(0)),))

    assert [bill(stays, case).total for case in Case] == [Decimal("73.00"), Decimal("73.00"), Decimal("438.00")]


def test_jobs_of_differing_length_cost_what_their_mean_takes() -> None:
    wide = replace(JOBS, p95_minutes=200, limit_minutes=2000)
    mean = Length(minutes=12, p95=200, limit=2000).mean
    (line,) = [line for line in bill(replace(STACK, loads=(wide,)), Case.EXPECTED).lines if "g4dn" in line.what]

    assert mean > 36
    assert float(line.quantity) == pytest.approx(600 * (mean + 3 + 5) / 60, rel=1e-6)
    assert of(POOL, Case.EXPECTED, wide) > of(POOL, Case.EXPECTED, JOBS)
    assert job_minutes((JOBS,)) == 7200


BUILDER = replace(CIRUN, path="host-image", machines=("e2-standard-8",), max_size=1, gpu=None, gpus=0)


def test_images_of_machines_cost_their_place_and_a_build_a_month() -> None:
    made = Estate(
        host_images=(HostImages(path="host-image", gb=Decimal(30)),),
        builds=(Build(path="host-image", what="to build", machine=BUILDER, minutes=90, attempts=3),),
    )
    hour = Decimal(8) * Decimal("0.0335")

    for case, hours in ((Case.IDLE, Decimal("1.5")), (Case.EXPECTED, Decimal("1.5")), (Case.WORST, Decimal("4.5"))):
        lines = {line.what.partition(",")[0]: line for line in bill(made, case).lines}

        assert lines["images of machines"].month == Decimal("1.50")
        assert lines["e2-standard-8 to build"].month == hours * hour
        assert lines["pd-balanced disks"].quantity == (100 * hours / 730).quantize(Decimal("0.000001"))


# Way-outs, followed to the letter.


@given(st.integers(1, 5), st.integers(0, 40_000), st.integers(1, 60), st.sampled_from([POOL, CIRUN]))
@settings(max_examples=60)
def test_as_many_machines_as_are_named_are_enough(size: int, jobs: int, minutes: int, fleet: Fleet) -> None:
    work = replace(JOBS, fleet=fleet.path, jobs_per_month=jobs, minutes=minutes)
    for warning in judge(Estate(fleets=(replace(fleet, max_size=size),), loads=(work,))):
        found = re.fullmatch(r"set it to at least (\d+), or state fewer jobs", warning.fix)
        if found is not None:
            larger = Estate(fleets=(replace(fleet, max_size=int(found[1])),), loads=(work,))

            assert warning.subject not in {one.subject for one in judge(larger)}


@given(estates, st.integers(1, 3000), st.sampled_from([Case.EXPECTED, Case.WORST]))
@settings(max_examples=60)
def test_the_limit_that_is_named_is_kept(estate: Estate, usd: int, case: Case) -> None:
    limit = Limit(path="budget", usd=Decimal(usd), case=case)
    verdict = judge(estate, [limit])[0]
    if verdict.level is Level.ERROR:
        raised = int(verdict.fix.rpartition("raise the limit to ")[2])

        assert judge(estate, [replace(limit, usd=Decimal(raised))])[0].level is Level.OK
        assert judge(estate, [replace(limit, usd=Decimal(raised - 1))])[0].level is Level.ERROR


def test_more_jobs_than_a_pool_has_hours_are_warned_of() -> None:
    crowded = replace(STACK, loads=(replace(JOBS, jobs_per_month=12_000),))
    verdict = judge(crowded)[1]

    assert (verdict.level, verdict.subject) == (Level.WARNING, "gpu-pools.t4-spot.max")
    assert verdict.reason == "the stated jobs take 4000 machine hours a month, and at most 3650 are to be had"
    assert verdict.fix == "set it to at least 6, or state fewer jobs"


def test_the_control_plane_alone_is_paid_for_by_seventeen_hundred_minutes() -> None:
    own = Decimal("0.526") / 60

    assert BreakEven(fixed_month=Decimal(73), own_minute=own, hosted_minute=Decimal("0.052")).minutes == 1689


def test_machines_that_cost_more_a_minute_are_never_cheaper() -> None:
    assert (
        BreakEven(fixed_month=Decimal(73), own_minute=Decimal("0.06"), hosted_minute=Decimal("0.052")).minutes is None
    )


def test_at_the_break_even_both_cost_the_same_to_a_minute() -> None:
    found = break_even(reckon(STACK), STACK.loads)

    assert found is not None
    assert found.minutes is not None
    own = found.fixed_month + found.own_minute * found.minutes
    assert Decimal(0) <= found.hosted_minute * found.minutes - own < found.hosted_minute


def test_the_comparison_with_github_has_both_months() -> None:
    verdict = judge(STACK)[-1]

    assert verdict.reason == (
        "7,200 job minutes a month cost 230.41 USD here and 374.40 USD on GitHub's GPU runners; "
        "one's own are cheaper from 3,934 minutes a month"
    )


def test_without_jobs_there_is_nothing_to_compare() -> None:
    assert break_even(reckon(STACK), ()) is None


def test_three_hundred_pools_with_three_hundred_runners_take_no_second() -> None:
    pools = tuple(replace(POOL, path=f"gpu-pools.p{index}", interruptions=0.001) for index in range(300))
    jobs = tuple(
        replace(JOBS, path=f"runners.r{index}", fleet=f"gpu-pools.p{index}", minutes=5 + index) for index in range(300)
    )
    start = time.perf_counter()
    judge(Estate(fleets=pools, loads=jobs))

    assert time.perf_counter() - start < 1


KEPT = replace(STACK, fleets=(SYSTEM, replace(POOL, min_size=2)))
KEPT_RUNNER = replace(STACK, loads=(replace(JOBS, min_runners=1),))


@pytest.mark.parametrize(
    ("estate", "path", "said"),
    [
        (KEPT, "gpu-pools.t4-spot.min", "2 nodes kept costs "),
        (KEPT_RUNNER, "runners.gpu-t4.arc.min", "1 idle runner kept costs "),
    ],
)
def test_gpu_machines_that_are_kept_are_told_with_their_price(estate: Estate, path: str, said: str) -> None:
    warnings = [verdict for verdict in judge(estate) if verdict.level is Level.WARNING]

    assert [verdict.subject for verdict in warnings] == [path]
    assert warnings[0].reason.startswith(said)
    nodes = 2 if estate is KEPT else 1
    assert f"{nodes * node_month(POOL):,.2f} USD a month" in warnings[0].reason
    assert "queue-target-minutes" in warnings[0].fix


@pytest.mark.parametrize("estate", [KEPT, KEPT_RUNNER])
def test_who_says_how_long_jobs_may_wait_means_what_is_kept(estate: Estate) -> None:
    meant = replace(estate, loads=(replace(estate.loads[0], awaited=True),))

    assert [verdict for verdict in judge(meant) if verdict.level is Level.WARNING] == []


def test_nodes_without_a_gpu_are_kept_without_a_word() -> None:
    assert [verdict for verdict in judge(STACK) if verdict.level is Level.WARNING] == []


def test_what_lacks_a_price_for_the_same_reason_is_told_once() -> None:
    elsewhere = replace(STACK, fleets=tuple(replace(fleet, region="eu-west-1") for fleet in STACK.fleets))

    verdict, told = judge(elsewhere)

    assert told.level is Level.OK
    assert verdict.subject == "system-nodes"
    assert verdict.chain == ("it is the price of system-nodes, gpu-pools.t4-spot",)
