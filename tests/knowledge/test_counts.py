"""Numbers of runners, nodes and GPUs that do not match are reported."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_ci.back_ends.offer import SharedNodes
from gpu_ci.checks.capacity.counts import counts
from gpu_ci.checks.nodes.pool_shape import pool_shapes
from gpu_ci.knowledge.kubernetes.node_group import NodeGroupFacts
from gpu_ci.knowledge.kubernetes.pods import Pod
from gpu_ci.knowledge.verdict import Level, Verdict
from tests.knowledge.pools import DAEMONSETS, POOL, runner_pod

pytestmark = pytest.mark.pure

STEADY = replace(POOL, capacity_type="ON_DEMAND")
SECOND = replace(STEADY, path="gpu-pools.steady", name="steady")
SLICED = replace(STEADY, shares=4)
SMALL = runner_pod("500m", "2Gi")
FALLING = (POOL.name, SECOND.name)
ONLY_SECOND = (SECOND.name,)


def runner(
    most: int = 5,
    idle: int = 0,
    *,
    cpu: str = "3",
    gpus: int = 1,
    pod: Pod | None = None,
    pools: tuple[str, ...] = (POOL.name,),
) -> SharedNodes:
    pod = pod or runner_pod(cpu, gpus=gpus)
    return SharedNodes(
        pools=pools,
        pod=pod,
        idle=idle,
        most=most,
        image="runner-gpu",
        most_key="runners.a.arc.max",
        idle_key="runners.a.arc.min",
        pool_key="runners.a.arc.pool",
        fallback_key="runners.a.arc.fallback",
    )


def judge(group: NodeGroupFacts, *runners: SharedNodes) -> list[Verdict]:
    """Return the verdicts on one pool; its runners are `runners.a`, `runners.b` and so on."""
    named = {f"runners.{chr(97 + index)}": one for index, one in enumerate(runners or (runner(),))}
    return list(counts((group,), named, DAEMONSETS))


def only(group: NodeGroupFacts, *runners: SharedNodes) -> tuple[Level, str, str, str]:
    (verdict,) = judge(group, *runners)
    return verdict.level, verdict.subject, verdict.reason, verdict.fix


def together(spot: int, steady: int, *runners: SharedNodes) -> list[Verdict]:
    """Return the problems of two pools with so many nodes."""
    named = {f"runners.{chr(97 + index)}": one for index, one in enumerate(runners)}
    groups = (replace(STEADY, max_size=spot), replace(SECOND, max_size=steady))
    return [verdict for verdict in counts(groups, named, DAEMONSETS) if verdict.level is not Level.OK]


def shapes(group: NodeGroupFacts, *runners: SharedNodes, fallback: NodeGroupFacts = SECOND) -> list[Verdict]:
    named = {f"runners.{index}": one for index, one in enumerate(runners or (runner(),))}
    return list(pool_shapes((group, fallback), named))


def test_five_runners_match_five_nodes_with_one_gpu_each() -> None:
    assert only(STEADY)[:3] == (Level.OK, "gpu-pools.t4-spot", "at most 5 nodes for at most 5 jobs")


@pytest.mark.parametrize(
    ("runners", "expected"),
    [
        ((runner(10),), (Level.WARNING, "runners.a",
            "10 jobs at most, but gpu-pools.t4-spot has room for 5; 5 pods stay pending",
            "lower its max to 5, or raise gpu-pools.t4-spot.max to 10")),
        ((runner(9, 6),), (Level.ERROR, "runners.a",
            "6 idle runners, but gpu-pools.t4-spot has room for 5; 1 pod stays pending",
            "lower its min to 5, or raise gpu-pools.t4-spot.max to 6")),
        ((runner(3),), (Level.WARNING, "gpu-pools.t4-spot.max", "up to 5 nodes, but its runners can use at most 3",
            "set it to 3, or raise the runners' max")),
        ((runner(5), runner(5)), (Level.WARNING, "gpu-pools.t4-spot.max",
            "10 jobs at most (a 5 and b 5), but gpu-pools.t4-spot has room for 5; 5 pods stay pending",
            "lower the max of these runners to 5 in total, or raise gpu-pools.t4-spot.max to 10")),
        ((runner(2), runner(9)), (Level.WARNING, "runners.b",
            "11 jobs at most (a 2 and b 9), but gpu-pools.t4-spot has room for 5; 6 pods stay pending",
            "lower the max of these runners to 5 in total, or raise gpu-pools.t4-spot.max to 11")),
        ((runner(2), runner(3)), (Level.OK, "gpu-pools.t4-spot", "at most 5 nodes for at most 5 jobs", "")),
        ((runner(5, 5),), (Level.OK, "gpu-pools.t4-spot", "at most 5 nodes for at most 5 jobs", "")),
    ],
)  # fmt: skip
def test_runners_and_nodes_of_one_pool_are_compared(
    runners: tuple[SharedNodes, ...], expected: tuple[Level, str, str, str]
) -> None:
    assert only(STEADY, *runners) == expected


def test_a_pool_that_no_runner_uses_gets_a_warning() -> None:
    (verdict,) = counts((STEADY,), {}, DAEMONSETS)

    assert verdict.fix == "use gpu-pools.t4-spot in a runner"


def test_a_runner_that_does_not_fit_at_all_is_reported_by_the_check_fit_only() -> None:
    assert only(STEADY, runner(10, cpu="64"))[0] is Level.OK


def test_shares_multiply_the_jobs_of_a_node() -> None:
    assert only(SLICED, runner(20, pod=SMALL))[0] is Level.OK


def test_gpus_that_no_job_can_use_get_a_warning() -> None:
    wide = replace(STEADY, instance_types=("g4dn.12xlarge",))

    assert only(SLICED, runner(5))[:3] == (
        Level.WARNING, "runners.a", "only 1 of the 4 nvidia.com/gpu of a g4dn.xlarge can be used: 1 job fills the node",
    )  # fmt: skip
    assert "only 3 of the 4 nvidia.com/gpu of a g4dn.12xlarge can be used" in only(wide, runner(5, gpus=3))[2]


def test_gpus_that_another_runner_can_use_get_no_warning() -> None:
    light = runner(15, pod=runner_pod("100m", "100Mi"))

    assert [one for one in judge(SLICED, runner(5), light) if one.level is not Level.OK] == []


@pytest.mark.parametrize(
    ("replicas", "cpu", "memory", "fix"),
    [
        (48, "3", "12Gi", "remove gpu-pools.t4-spot.sharing"),
        (48, "1", "1Gi", "lower gpu-pools.t4-spot.sharing.replicas to 3"),
        (2, "3", "12Gi", "request cpu: 1 and memory: 7Gi, or remove gpu-pools.t4-spot.sharing"),
    ],
)
def test_the_fix_for_unused_shares_is_smaller_jobs_or_fewer_shares(
    replicas: int, cpu: str, memory: str, fix: str
) -> None:
    group = replace(STEADY, shares=replicas)

    assert fix in [verdict.fix for verdict in judge(group, runner(5, pod=runner_pod(cpu, memory)))]


def test_a_job_that_requests_two_shares_gets_a_warning() -> None:
    group = replace(STEADY, shares=2)

    assert only(group, runner(5, pod=runner_pod("500m", "2Gi", 2)))[::2] == (
        Level.WARNING, "it requests 2 shares of a GPU, which gives it no more of the GPU than one",
    )  # fmt: skip


# Several pools.


def test_a_runner_with_a_fallback_has_the_room_of_both_pools() -> None:
    assert together(5, 2, runner(7, 6, pools=FALLING)) == []
    assert together(5, 2, runner(5, pools=FALLING)) == []


def test_a_shortage_of_a_pool_and_its_fallback_names_both() -> None:
    (verdict,) = together(5, 2, runner(9, pools=FALLING))

    assert (verdict.level, verdict.subject) == (Level.WARNING, "runners.a")
    assert verdict.reason == (
        "9 jobs at most, but gpu-pools.t4-spot and gpu-pools.steady together have room for 7; 2 pods stay pending"
    )
    assert verdict.fix == "lower its max to 7, or raise gpu-pools.t4-spot.max to 7"


def test_a_runner_uses_its_fallback_to_leave_room_for_another_runner() -> None:
    assert together(2, 2, runner(2, 2, pools=FALLING), runner(2, 2)) == []


def test_idle_runners_of_one_pool_are_summed_up() -> None:
    (verdict,) = together(5, 2, runner(5), *[runner(1, 1, pools=ONLY_SECOND)] * 3)

    assert (verdict.level, verdict.subject) == (Level.ERROR, "gpu-pools.steady.max")
    assert verdict.reason == (
        "3 idle runners (b 1, c 1 and d 1), but gpu-pools.steady has room for 2; 1 pod stays pending"
    )
    assert verdict.fix == "lower the min of these runners to 2 in total, or raise gpu-pools.steady.max to 3"


def test_runners_on_separate_pools_are_reported_separately() -> None:
    found = together(1, 1, runner(3), runner(2, pools=ONLY_SECOND))

    assert [(verdict.subject, verdict.fix) for verdict in found] == [
        ("runners.a", "lower its max to 1, or raise gpu-pools.t4-spot.max to 3"),
        ("runners.b", "lower its max to 1, or raise gpu-pools.steady.max to 2"),
    ]


def test_a_pool_with_more_nodes_than_all_its_runners_can_use_gets_a_warning() -> None:
    (verdict,) = together(5, 8, runner(5, pools=FALLING), runner(2, pools=ONLY_SECOND))

    assert (verdict.subject, verdict.fix) == ("gpu-pools.steady.max", "set it to 7, or raise the runners' max")


def test_a_long_list_of_runners_is_shortened() -> None:
    (verdict,) = judge(STEADY, *[runner(1)] * 9)

    assert verdict.reason.startswith("9 jobs at most (a 1, b 1, c 1, d 1 and 5 more), but gpu-pools.t4-spot has")
    assert len(verdict.chain) == 4


def test_jobs_of_different_sizes_are_compared_in_their_resource() -> None:
    group = replace(STEADY, instance_types=("g4dn.12xlarge",), max_size=1)
    _, _, reason, fix = only(group, runner(1, gpus=2), runner(3))

    assert reason == (
        "4 jobs at most (a 1 and b 3) request 5 nvidia.com/gpu, but gpu-pools.t4-spot has 4 nvidia.com/gpu; "
        "some pods stay pending"
    )
    assert fix == "lower the max of these runners, or raise gpu-pools.t4-spot.max to 2"


def test_a_share_without_cpu_does_not_count_as_room() -> None:
    """A node has four shares, but CPU for one such job."""
    found = judge(SLICED, runner(5), runner(5, pod=runner_pod("3", "10Gi")))

    assert any("has room for 5; 5 pods stay pending" in verdict.reason for verdict in found)


def test_a_runner_with_more_jobs_than_nodes_is_reported_next_to_small_jobs() -> None:
    """Small jobs make the sum pass; the large ones alone do not fit."""
    found = judge(
        replace(SLICED, max_size=5), runner(6, pod=runner_pod("2", "1Gi")), runner(1, pod=runner_pod("100m", "100Mi"))
    )

    assert ("runners.a", "lower its max to 5, or raise gpu-pools.t4-spot.max to 6") in [
        (verdict.subject, verdict.fix) for verdict in found
    ]


NUMBERS = st.integers(0, 8)
USES = st.sampled_from([(POOL.name,), ONLY_SECOND, FALLING, (SECOND.name, POOL.name)])


def fits_somehow(spot: int, steady: int, wanted: list[tuple[int, tuple[str, ...]]]) -> bool:
    """Try every split, with one job on each node."""
    if not wanted:
        return spot >= 0 and steady >= 0
    (count, pools), *rest = wanted
    splits = range(count + 1) if len(pools) > 1 else [count if pools == (POOL.name,) else 0]
    return any(fits_somehow(spot - here, steady - (count - here), rest) for here in splits)


@given(NUMBERS, NUMBERS, st.lists(st.tuples(NUMBERS, USES), min_size=1, max_size=3))
def test_idle_runners_are_refused_exactly_where_no_split_of_them_fits(
    spot: int, steady: int, wanted: list[tuple[int, tuple[str, ...]]]
) -> None:
    runners = [runner(99, idle, pools=pools) for idle, pools in wanted]
    refused = [verdict for verdict in together(spot, steady, *runners) if "idle runners" in verdict.reason]

    assert (not refused) is fits_somehow(spot, steady, wanted)


@given(NUMBERS, NUMBERS, st.lists(st.tuples(st.integers(1, 9), USES), min_size=1, max_size=3))
def test_the_suggested_nodes_are_enough(spot: int, steady: int, wanted: list[tuple[int, tuple[str, ...]]]) -> None:
    runners = [runner(most, pools=pools) for most, pools in wanted]
    sizes = {POOL.path: spot, SECOND.path: steady}
    for _ in range(3):
        short = [
            one for one in together(sizes[POOL.path], sizes[SECOND.path], *runners) if "jobs at most" in one.reason
        ]
        for path, most in (found for one in short for found in re.findall(r"raise (\S+)\.max to (\d+)", one.fix)):
            assert int(most) > sizes[path]
            sizes[path] = int(most)

    assert [
        one for one in together(sizes[POOL.path], sizes[SECOND.path], *runners) if "jobs at most" in one.reason
    ] == []


@given(st.integers(1, 50), st.integers(1, 50))
def test_numbers_match_exactly_where_runners_and_nodes_are_equal(nodes: int, runners: int) -> None:
    verdicts = judge(replace(STEADY, max_size=nodes), runner(runners))

    assert (verdicts[0].level is Level.OK) == (nodes == runners)


# One pool on its own.


@pytest.mark.parametrize(
    ("types", "zones", "reason"),
    [
        (1, 1, "spot with one type and one zone uses 1 spot pool: while it is empty, there are no runners"),
        (1, 2, "spot with one type uses 2 spot pools: while they are empty, there are no runners"),
        (2, 1, "spot with one zone uses 2 spot pools: while they are empty, there are no runners"),
        (2, 2, None),
    ],
)
def test_a_spot_pool_with_one_type_or_zone_gets_a_warning(types: int, zones: int, reason: str | None) -> None:
    group = replace(
        POOL, instance_types=("g4dn.xlarge", "g4dn.2xlarge")[:types], zones=("us-west-2a", "us-west-2b")[:zones]
    )

    assert [verdict.reason for verdict in shapes(group)] == ([reason] if reason else [])


def test_a_spot_pool_with_a_fallback_makes_jobs_wait() -> None:
    (verdict,) = shapes(POOL, runner(5, pools=FALLING))

    assert verdict.reason.endswith("while they are empty, every job waits for a node of gpu-pools.steady")
    assert verdict.fix == "add more types"


@pytest.mark.parametrize(
    ("types", "text"),
    [
        (("g4dn.2xlarge", "g4dn.xlarge"), "a node may be the smaller g4dn.xlarge"),
        (("g6.2xlarge", "gr6.4xlarge", "g6.xlarge"), "a node may be the smaller g6.xlarge"),
        (("g6.8xlarge", "gr6.4xlarge"), "a node may be the smaller gr6.4xlarge"),
        (("g4dn.xlarge", "g5.xlarge"), "a job may get any of these GPUs: a10g, t4"),
        (("p3.2xlarge",), "CUDA 13 and drivers after 580 do not support the GPU of p3.2xlarge"),
        (("g4dn.xlarge", "g4dn.12xlarge"), "g4dn.12xlarge has a different number"),
    ],
)
def test_instance_types_that_do_not_match_get_a_warning(types: tuple[str, ...], text: str) -> None:
    (verdict,) = shapes(replace(STEADY, instance_types=types))

    assert verdict.level is Level.WARNING
    assert text in verdict.reason


def test_a_larger_type_after_a_smaller_one_gets_no_warning() -> None:
    assert shapes(replace(STEADY, instance_types=("g4dn.xlarge", "g4dn.2xlarge"))) == []


def test_a_part_of_a_gpu_cannot_be_shared_again() -> None:
    group = replace(SLICED, instance_types=("g6f.xlarge",))

    assert [verdict.reason for verdict in shapes(group)] == ["g6f.xlarge already has only a part of a GPU"]
