"""Numbers of runners, nodes and GPUs that do not go together are noticed."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.counts import RunnerFacts, counts
from checks.pool_shape import own_spot
from gpu.kubernetes.sharing import Sharing
from gpu.verdict import Level
from tests.gpu.pools import BESIDE, POOL, runner_pod

if TYPE_CHECKING:
    from gpu.kubernetes.node_group import NodeGroupFacts
    from gpu.kubernetes.pods import Pod
    from gpu.verdict import Verdict

pytestmark = pytest.mark.pure

STEADY = replace(POOL, capacity_type="ON_DEMAND")
SLICED = replace(STEADY, sharing=Sharing(mode="time-slicing", replicas=4))
SMALL = runner_pod("500m", "2Gi")


STEADY_PATH = "gpu-pools.steady"


def runner(
    most: int = 5,
    least: int = 0,
    *,
    name: str = "gpu-t4",
    cpu: str = "3",
    gpus: int = 1,
    pod: Pod | None = None,
    pools: tuple[str, ...] = (POOL.path,),
) -> RunnerFacts:
    asked = pod or runner_pod(cpu, gpus=gpus)
    return RunnerFacts(path=f"runners.{name}", pools=pools, pod=asked, min_runners=least, max_runners=most)


def judge(group: NodeGroupFacts, *runners: RunnerFacts) -> list[Verdict]:
    return counts((group,), runners or (runner(),), daemonsets=BESIDE)


def together(spot: int, steady: int, *runners: RunnerFacts) -> list[Verdict]:
    """What is wrong with two pools of so many nodes, the first of them on spot."""
    first = replace(POOL, max_size=spot, instance_types=("g4dn.xlarge", "g4dn.2xlarge"))
    second = replace(STEADY, path=STEADY_PATH, name="steady", max_size=steady)
    found = counts((first, second), runners, daemonsets=BESIDE)
    return [verdict for verdict in found if verdict.level is not Level.OK]


FALLING = (POOL.path, STEADY_PATH)


def only(group: NodeGroupFacts, *runners: RunnerFacts) -> tuple[Level, str, str, str]:
    (verdict,) = judge(group, *runners)
    return verdict.level, verdict.subject, verdict.reason, verdict.fix


def test_five_runners_on_five_nodes_with_a_gpu_each_go_together() -> None:
    assert only(STEADY)[:3] == (Level.OK, "gpu-pools.t4-spot", "5 nodes at most for 5 jobs at most")


def test_ten_runners_on_five_nodes_wait() -> None:
    level, subject, reason, fix = only(STEADY, runner(10))

    assert (level, subject) == (Level.WARNING, "runners.gpu-t4")
    assert "10 jobs are taken, and gpu-pools.t4-spot has room for 5: the other 5 wait as pending pods" in reason
    assert fix == "set its max to 5, or gpu-pools.t4-spot.max to 10"


def test_three_runners_leave_two_of_five_nodes_without_use() -> None:
    level, subject, reason, fix = only(STEADY, runner(3))

    assert (level, subject) == (Level.WARNING, "gpu-pools.t4-spot.max")
    assert reason == "up to 5 nodes, and its runners can use 3 at most"
    assert fix == "set it to 3, or raise the runners' max"


def test_runners_of_a_pool_are_taken_together() -> None:
    assert only(STEADY, runner(2), runner(3, name="other"))[0] is Level.OK


def test_a_pool_that_no_runner_names_is_noticed() -> None:
    (verdict,) = counts((STEADY,), (), daemonsets=BESIDE)

    assert verdict.fix == "let a runner name gpu-pools.t4-spot"


def test_more_idle_runners_than_the_pool_can_hold_is_an_error() -> None:
    level, _, reason, _ = only(STEADY, runner(9, 6))

    assert level is Level.ERROR
    assert reason.startswith("6 idle runners are kept")


@pytest.mark.parametrize(
    ("group", "said"),
    [
        (replace(STEADY, min_size=6), ("gpu-pools.t4-spot.min", "min 6 is more than max 5")),
        (replace(STEADY, max_size=0), ("gpu-pools.t4-spot.max", "EKS takes no node group with a maximum of 0")),
    ],
)
def test_a_pool_goes_from_min_to_max(group: NodeGroupFacts, said: tuple[str, str]) -> None:
    assert said in [(verdict.subject, verdict.reason) for verdict in judge(group) if verdict.level is Level.ERROR]


def test_a_runner_goes_from_min_to_max() -> None:
    assert (Level.ERROR, "min 2 is more than max 1") in [
        (verdict.level, verdict.reason) for verdict in judge(replace(STEADY, max_size=1), runner(1, 2))
    ]


def test_a_fixed_number_is_from_min_to_max() -> None:
    assert only(replace(STEADY, min_size=5), runner(5, 5))[0] is Level.OK


def test_shares_multiply_what_a_node_takes() -> None:
    shared = runner(20, pod=SMALL)

    assert only(SLICED, shared)[0] is Level.OK


def test_shares_that_the_cpu_does_not_reach_for_are_noticed() -> None:
    level, _, reason, _ = only(SLICED, runner(5))

    assert level is Level.WARNING
    assert reason == "only 1 of the 4 nvidia.com/gpu of a g4dn.xlarge can be used: 1 job fills the node"


def test_gpus_that_a_job_does_not_divide_stay_idle() -> None:
    group = replace(STEADY, instance_types=("g4dn.12xlarge",))

    assert "only 3 of the 4 nvidia.com/gpu of a g4dn.12xlarge can be used" in only(group, runner(5, gpus=3))[2]


def test_two_shares_are_no_more_than_one_in_turns_and_refused_side_by_side() -> None:
    two = runner(5, pod=runner_pod("500m", "2Gi", 2))
    sliced = replace(SLICED, sharing=Sharing(mode="time-slicing", replicas=2))
    mps = replace(SLICED, sharing=Sharing(mode="mps", replicas=2), labels={"nvidia.com/mps.capable": "true"})

    assert only(sliced, two)[0] is Level.WARNING
    assert only(mps, two)[::2] == (Level.ERROR, "it asks for 2 shares of a GPU, which the device plugin refuses")


def test_mps_needs_its_daemon_on_the_node() -> None:
    shared = runner(10, pod=SMALL)
    group = replace(SLICED, sharing=Sharing(mode="mps", replicas=2))

    assert "nvidia.com/mps.capable" in only(group, shared)[3]


@pytest.mark.parametrize(
    ("name", "refused"),
    [("g4dn.xlarge", True), ("p3.8xlarge", True), ("g5.xlarge", True), ("g6.xlarge", True), ("g6e.xlarge", True),
     ("p4d.24xlarge", False), ("p5.48xlarge", False)],
)  # fmt: skip
def test_only_a_gpu_that_can_be_sliced_is_sliced(name: str, refused: bool) -> None:
    group = replace(STEADY, instance_types=(name,), sharing=Sharing(mode="mig", replicas=2))

    assert ("use time-slicing or mps" in [verdict.fix for verdict in judge(group)]) is refused


def test_spot_with_one_type_hangs_on_one_pool_of_capacity() -> None:
    level, subject, reason, fix = only(replace(POOL, zones=("us-west-2a",)))

    assert (level, subject) == (Level.WARNING, "gpu-pools.t4-spot.capacity")
    assert reason == "spot with one type and one zone draws on 1 spot pool: when it is empty there are no runners"
    assert fix.startswith("list more types and zones")


def test_spot_with_one_type_in_two_zones_hangs_on_two() -> None:
    assert only(POOL)[2].startswith("spot with one type draws on 2 spot pools")


def test_spot_with_two_types_in_two_zones_is_sound() -> None:
    assert only(replace(POOL, instance_types=("g4dn.xlarge", "g4dn.2xlarge")))[0] is Level.OK


@pytest.mark.parametrize(
    ("types", "said"),
    [
        (("g4dn.2xlarge", "g4dn.xlarge"), "a node may turn out to be the smaller g4dn.xlarge"),
        (("g6.2xlarge", "gr6.4xlarge", "g6.xlarge"), "a node may turn out to be the smaller g6.xlarge"),
        (("g6.8xlarge", "gr6.4xlarge"), "a node may turn out to be the smaller gr6.4xlarge"),
        (("g4dn.xlarge", "g5.xlarge"), "jobs get whichever GPU there is: a10g, t4"),
        (("p3.2xlarge",), "p3.2xlarge has a GPU that CUDA 13 and driver branches after 580 have dropped"),
    ],
)
def test_a_pool_of_a_shape_that_surprises_is_warned_of(types: tuple[str, ...], said: str) -> None:
    level, _, reason, _ = only(replace(STEADY, instance_types=types))

    assert level is Level.WARNING
    assert said in reason


def test_a_type_with_another_number_of_gpus_is_warned_of() -> None:
    verdicts = judge(replace(STEADY, instance_types=("g4dn.xlarge", "g4dn.12xlarge")))

    assert verdicts[0].reason.startswith("g4dn.12xlarge has another number of GPUs than g4dn.xlarge")


def test_a_larger_type_behind_a_smaller_one_surprises_nobody() -> None:
    assert only(replace(STEADY, instance_types=("g4dn.xlarge", "g4dn.2xlarge")))[0] is Level.OK


def test_a_warm_pool_excludes_an_image_of_ones_own_and_spot() -> None:
    group = replace(POOL, warm_pool=True, own_image=True, instance_types=("g4dn.xlarge", "g4dn.2xlarge"))

    assert [verdict.reason for verdict in judge(group)] == [
        "EKS makes no warm pool with an image of one's own",
        "EKS makes no warm pool with spot capacity",
    ]


def test_a_part_of_a_gpu_is_not_shared_again() -> None:
    group = replace(SLICED, instance_types=("g6f.xlarge",))

    assert "g6f.xlarge is a part of a GPU already" in [verdict.reason for verdict in judge(group)]


def test_a_runner_that_does_not_fit_at_all_is_left_to_the_check_of_fit() -> None:
    assert only(STEADY, runner(10, cpu="64"))[0] is Level.OK


@given(st.integers(1, 50), st.integers(1, 50))
def test_numbers_are_sound_exactly_where_runners_and_nodes_are_equal(nodes: int, runners: int) -> None:
    verdicts = judge(replace(STEADY, max_size=nodes), runner(runners))

    assert (verdicts[0].level is Level.OK) == (nodes == runners)


@given(st.integers(1, 8), st.integers(1, 40), st.integers(1, 40))
def test_what_is_suggested_goes_together(replicas: int, nodes: int, jobs: int) -> None:
    group = replace(STEADY, max_size=nodes, sharing=Sharing(mode="time-slicing", replicas=replicas))
    facts = runner(jobs, pod=runner_pod("100m", "1Gi"))
    for verdict in counts((group,), (facts,)):
        if verdict.fix.startswith("set its max to "):
            number = int(verdict.fix.split()[4].rstrip(","))

            assert counts((group,), (replace(facts, max_runners=number),))[0].level is Level.OK


def test_a_runner_that_falls_back_has_the_room_of_both_pools() -> None:
    assert together(5, 2, runner(7, 6, pools=FALLING)) == []


def test_a_runner_with_more_jobs_than_both_pools_have_room_for_is_told_so_of_both() -> None:
    (verdict,) = together(5, 2, runner(9, pools=FALLING))

    assert (verdict.level, verdict.subject) == (Level.WARNING, "runners.gpu-t4")
    assert "gpu-pools.t4-spot and gpu-pools.steady have room for 7 together: the other 2 wait" in verdict.reason
    assert verdict.fix == "set its max to 7, or gpu-pools.t4-spot.max to 7"


def test_a_pool_that_is_only_fallen_back_on_is_of_use() -> None:
    assert together(5, 2, runner(5, pools=FALLING)) == []


def test_a_pool_has_no_more_use_than_the_runners_that_may_come_to_it() -> None:
    (verdict,) = together(5, 8, runner(5, pools=FALLING), runner(2, name="other", pools=(STEADY_PATH,)))

    assert (verdict.subject, verdict.fix) == ("gpu-pools.steady.max", "set it to 7, or raise the runners' max")


def test_idle_runners_that_share_a_pool_are_added_up() -> None:
    three = [runner(1, 1, name=name, pools=(STEADY_PATH,)) for name in ("a", "b", "c")]
    (verdict,) = together(5, 2, runner(5), *three)

    assert (verdict.level, verdict.subject) == (Level.ERROR, "gpu-pools.steady.max")
    assert verdict.reason == (
        "3 idle runners are kept (a 1, b 1 and c 1), and gpu-pools.steady has room for 2: one waits as a pending pod, and "
        "no other pool can take it"
    )
    assert verdict.fix == "lower the min of these runners to 2 in all, or raise gpu-pools.steady.max to 3"


def test_jobs_of_runners_that_share_a_pool_are_added_up() -> None:
    (verdict,) = judge(STEADY, runner(5, name="a"), runner(5, name="b"))

    assert (verdict.level, verdict.subject) == (Level.WARNING, "gpu-pools.t4-spot.max")
    assert verdict.reason.startswith(
        "10 jobs are taken (a 5 and b 5), and gpu-pools.t4-spot has room for 5: the other 5"
    )


def test_one_that_asks_for_more_than_there_is_for_it_alone_is_the_one_to_look_at() -> None:
    (verdict,) = judge(STEADY, runner(2, name="a"), runner(9, name="b"))

    assert verdict.subject == "runners.b"
    assert "11 jobs are taken (a 2 and b 9)" in verdict.reason


def test_of_many_runners_the_first_are_named_and_the_rest_are_counted() -> None:
    (verdict,) = judge(STEADY, *(runner(1, name=f"r{index}") for index in range(9)))

    assert verdict.reason.startswith("9 jobs are taken (r0 1, r1 1, r2 1, r3 1 and 5 more), and gpu-pools.t4-spot has")
    assert len(verdict.chain) == 4


def test_a_runner_makes_way_for_one_that_has_no_other_pool() -> None:
    """In the best case, which is the one that is judged: the first falls back, so that the second has room."""
    kept = [runner(2, 2, name="a", pools=FALLING), runner(2, 2, name="b")]

    assert together(2, 2, *kept) == []


def test_runners_on_pools_of_their_own_are_judged_apart() -> None:
    found = together(1, 1, runner(3, name="a"), runner(2, name="b", pools=(STEADY_PATH,)))

    assert [(verdict.subject, verdict.fix) for verdict in found] == [
        ("runners.a", "set its max to 1, or gpu-pools.t4-spot.max to 3"),
        ("runners.b", "set its max to 1, or gpu-pools.steady.max to 2"),
    ]


def test_jobs_of_different_sizes_are_reckoned_in_what_they_ask_for() -> None:
    group = replace(STEADY, instance_types=("g4dn.12xlarge",), max_size=1)
    (verdict,) = judge(group, runner(1, name="large", gpus=2), runner(3, name="small"))

    assert verdict.reason == (
        "4 jobs are taken (large 1 and small 3), which ask for 5 nvidia.com/gpu, and gpu-pools.t4-spot has 4 "
        "nvidia.com/gpu for them: some wait as pending pods, and no other pool can take them"
    )
    assert verdict.fix == "lower the max of these runners, or raise gpu-pools.t4-spot.max to 2"


def test_shares_that_are_there_are_no_room_where_cpu_is_not() -> None:
    """Four shares a node, and CPU for one such job: ten jobs of two runners do not find room on five nodes."""
    found = judge(SLICED, runner(5, name="a"), runner(5, pod=runner_pod("3", "10Gi"), name="b"))

    assert any("has room for 5: the other 5 wait" in verdict.reason for verdict in found)


def test_what_a_heavy_job_leaves_of_a_node_may_be_anothers() -> None:
    light = runner(15, name="light", pod=runner_pod("100m", "100Mi"))

    assert [verdict for verdict in judge(SLICED, runner(5), light) if "can be used" in verdict.reason] == []


@pytest.mark.parametrize(
    ("replicas", "cpu", "memory", "fix"),
    [
        (48, "3", "12Gi", "leave gpu-pools.t4-spot.sharing out"),
        (48, "1", "1Gi", "lower gpu-pools.t4-spot.sharing.replicas to 3"),
        (2, "3", "12Gi", "ask for cpu: 1 and memory: 6Gi, or leave gpu-pools.t4-spot.sharing out"),
    ],
)
def test_more_shares_than_there_is_room_for_are_told_to_be_fewer(
    replicas: int, cpu: str, memory: str, fix: str
) -> None:
    group = replace(STEADY, sharing=Sharing(mode="time-slicing", replicas=replicas))
    found = judge(group, runner(5, pod=runner_pod(cpu, memory)))

    assert fix in [verdict.fix for verdict in found]


def test_spot_that_all_fall_back_from_makes_them_wait_and_not_fail() -> None:
    found = counts((POOL, replace(STEADY, path=STEADY_PATH)), (runner(5, pools=FALLING),), daemonsets=BESIDE)
    (verdict,) = [verdict for verdict in found if verdict.level is Level.WARNING]

    assert verdict.reason.endswith("when they are empty every job waits for a node of gpu-pools.steady")
    assert verdict.fix == "list more types"


@pytest.mark.parametrize(
    ("mode", "replicas", "told"),
    [
        ("mps", 2, []),
        ("mps", 3, ["set it to 2, or share by turns: time-slicing"]),
        ("time-slicing", 3, []),
    ],
)
def test_a_share_of_a_gpus_memory_is_large_enough_for_a_job(
    mode: Literal["mps", "time-slicing"], replicas: int, told: list[str]
) -> None:
    group = replace(STEADY, sharing=Sharing(mode=mode, replicas=replicas))
    found = [verdict for verdict in judge(group) if verdict.subject == "gpu-pools.t4-spot.sharing.replicas"]

    assert [verdict.fix for verdict in found] == told


@pytest.mark.parametrize(
    ("types", "zones", "reasons"),
    [(1, 2, ["spot with one type"]), (2, 1, ["spot with one zone"]), (1, 1, ["spot with one type and one zone"]),
     (2, 2, []), (2, None, []), (1, None, ["spot with one type"])],
)  # fmt: skip
def test_spot_machines_of_ones_own_hang_on_several_types_and_zones(
    types: int, zones: int | None, reasons: list[str]
) -> None:
    found = own_spot("runners.r.cirun-gcp.spot", types=types, zones=zones)

    assert [verdict.reason.partition(" and nothing behind it")[0] for verdict in found] == reasons
    assert all(verdict.level is Level.WARNING for verdict in found)


NUMBERS = st.integers(0, 8)
USES = st.sampled_from([(POOL.path,), (STEADY_PATH,), FALLING, (STEADY_PATH, POOL.path)])


def fits_somehow(spot: int, steady: int, wanted: list[tuple[int, tuple[str, ...]]]) -> bool:
    """By trying every split: one job a node."""
    if not wanted:
        return spot >= 0 and steady >= 0
    (count, pools), *rest = wanted
    splits = range(count + 1) if len(pools) > 1 else [count if pools == (POOL.path,) else 0]
    return any(fits_somehow(spot - here, steady - (count - here), rest) for here in splits)


@given(NUMBERS, NUMBERS, st.lists(st.tuples(NUMBERS, USES), min_size=1, max_size=3))
def test_idle_runners_are_refused_exactly_where_no_split_of_them_fits(
    spot: int, steady: int, wanted: list[tuple[int, tuple[str, ...]]]
) -> None:
    runners = [runner(99, least, name=f"r{index}", pools=pools) for index, (least, pools) in enumerate(wanted)]
    refused = [verdict for verdict in together(spot, steady, *runners) if "idle runners are kept" in verdict.reason]

    assert (not refused) is fits_somehow(spot, steady, wanted)


@given(NUMBERS, NUMBERS, st.lists(st.tuples(st.integers(1, 9), USES), min_size=1, max_size=3))
def test_the_nodes_that_are_suggested_are_enough(
    spot: int, steady: int, wanted: list[tuple[int, tuple[str, ...]]]
) -> None:
    runners = [runner(most, name=f"r{index}", pools=pools) for index, (most, pools) in enumerate(wanted)]
    sizes = {POOL.path: spot, STEADY_PATH: steady}
    for verdict in together(spot, steady, *runners):
        if "jobs are taken" in verdict.reason:
            for path, most in re.findall(r"(gpu-pools\.[a-z0-9-]+)\.max to (\d+)", verdict.fix):
                sizes[path] = int(most)

    assert [
        one for one in together(sizes[POOL.path], sizes[STEADY_PATH], *runners) if "jobs are taken" in one.reason
    ] == []
