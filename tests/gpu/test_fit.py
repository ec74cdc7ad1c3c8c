"""A runner fits on every type of its pool, or is told what would."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.fit import fits, place
from gpu.kubernetes.allocatable import root_disk_for
from gpu.kubernetes.quantities import CPU, GIB, MEMORY, Resources
from gpu.kubernetes.sharing import Sharing
from gpu.machines import EC2_TYPES
from gpu.nearest import UnknownName
from gpu.verdict import Level, Verdict
from tests.gpu.pools import BESIDE, POOL, runner_pod

if TYPE_CHECKING:
    from gpu.kubernetes.node_group import NodeGroupFacts
    from gpu.kubernetes.pods import Pod

pytestmark = pytest.mark.pure

GPU_TYPES = sorted(name for name, machine in EC2_TYPES.items() if machine.gpu)


def judge(pod: Pod, group: NodeGroupFacts = POOL, **more: Resources) -> Verdict:
    (verdict,) = fits("runners.gpu-t4", pod, group, daemonsets=BESIDE, **more)
    return verdict


def disk_pod(gib: int) -> Pod:
    """A job that asks for so much disk."""
    resources = {"requests": {"ephemeral-storage": f"{gib}Gi"}, "limits": {"nvidia.com/gpu": 1}}
    return runner_pod(containers=[{"resources": resources}])


def test_four_cores_and_16_gib_do_not_fit_on_a_g4dn_xlarge() -> None:
    verdict = judge(runner_pod("4", "16Gi"), replace(POOL, instance_types=("g4dn.xlarge", "g4dn.2xlarge")))

    assert verdict.level is Level.ERROR
    assert verdict.subject == "runners.gpu-t4"
    assert verdict.reason == (
        "g4dn.xlarge of gpu-pools.t4-spot gives at most 3.64 CPU and 13.8Gi once the kubelet and 5 DaemonSets have their "
        "share, and it asks for 4 CPU and 16Gi"
    )
    assert verdict.fix == "ask for cpu: 3 and memory: 13Gi, or list only g4dn.2xlarge in gpu-pools.t4-spot"


def test_three_cores_and_12_gib_fit_on_a_g4dn_xlarge() -> None:
    verdict = judge(runner_pod("3", "12Gi"))

    assert verdict.level is Level.OK
    assert "g4dn.xlarge leaves 3.64 CPU and 13.8Gi" in verdict.reason


def test_a_type_that_is_large_enough_is_found_where_the_pool_has_none() -> None:
    assert judge(runner_pod("4", "16Gi")).fix.endswith("or list only g4dn.2xlarge in gpu-pools.t4-spot")


def test_only_what_is_lacking_is_named() -> None:
    verdict = judge(runner_pod("3", "15Gi"))

    assert "CPU" not in verdict.reason
    assert verdict.fix.startswith("ask for memory: 13Gi")


def test_every_type_that_is_too_small_is_named() -> None:
    verdict = judge(
        runner_pod("12", "12Gi"), replace(POOL, instance_types=("g4dn.2xlarge", "g4dn.xlarge", "g4dn.4xlarge"))
    )

    assert "g4dn.xlarge of gpu-pools.t4-spot gives at most 3.64 CPU" in verdict.reason
    assert "too little on g4dn.2xlarge" in verdict.reason
    assert verdict.fix == "ask for cpu: 3, or list only g4dn.4xlarge in gpu-pools.t4-spot"


def test_what_stands_beside_the_job_is_taken_off_the_suggestion() -> None:
    pod = runner_pod("4", "16Gi", initContainers=[{"restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}])
    verdict = judge(pod, job=Resources.of({CPU: 4000, MEMORY: 16 * GIB}))

    assert "asks for 5 CPU" in verdict.reason
    assert verdict.fix.startswith("ask for cpu: 2 and memory: 13Gi")


def test_two_gpus_are_not_found_on_a_node_with_one() -> None:
    verdict = judge(runner_pod(gpus=2))

    assert "at most 1 nvidia.com/gpu" in verdict.reason
    assert verdict.fix == "ask for gpus: 1, or list only g4dn.12xlarge in gpu-pools.t4-spot"


def test_disk_is_reckoned_with_and_a_larger_one_suggested() -> None:
    verdict = judge(disk_pod(180))

    assert "179Gi of disk" in verdict.reason
    assert verdict.fix.startswith("ask for disk: 179Gi")
    assert verdict.fix.endswith("or give gpu-pools.t4-spot a larger disk: 202Gi")


ON_STORE = replace(POOL, nvme_storage=True)
"""Nodes whose pods live on the instance store: a g4dn.xlarge has 125 GB of it."""


def test_on_the_instance_store_a_larger_root_disk_is_no_help_and_is_not_suggested() -> None:
    verdict = judge(disk_pod(150), ON_STORE)

    assert "gives at most 103.7Gi of disk" in verdict.reason
    assert verdict.fix.endswith("or leave gpu-pools.t4-spot.fast-image-pull out, so that pods live on the root disk")
    assert judge(disk_pod(150)).level is Level.OK


def test_a_root_disk_that_is_too_small_as_well_has_to_be_larger() -> None:
    verdict = judge(disk_pod(300), ON_STORE)

    assert verdict.fix.endswith("so that pods live on the root disk, and give gpu-pools.t4-spot a larger disk: 335Gi")


@given(st.integers(1, 2000))
def test_the_disk_that_is_suggested_is_the_smallest_that_is_enough(gib: int) -> None:
    enough = root_disk_for(gib * GIB)

    assert judge(disk_pod(gib), replace(POOL, disk_gib=enough)).level is Level.OK
    assert judge(disk_pod(gib), replace(POOL, disk_gib=enough - 1)).level is Level.ERROR


def test_the_chain_says_whether_the_autoscaler_is_deceived() -> None:
    deceived = judge(runner_pod("3700m", "12Gi"))
    aware = judge(runner_pod("4", "12Gi"))

    assert deceived.chain[-1].endswith("so it buys g4dn.xlarge after g4dn.xlarge in vain")
    assert aware.chain[-1].endswith("the job waits for ever")


def test_a_job_that_no_type_of_the_model_can_hold_is_told_to_split() -> None:
    assert judge(runner_pod("500", "12Gi", gpus=16)).fix == "ask for cpu: 3 and gpus: 1"
    assert judge(runner_pod("500", "12Gi"), job=Resources.of({MEMORY: GIB})).fix.startswith("split the job")


def test_nothing_at_all_is_never_suggested() -> None:
    beside = {"restartPolicy": "Always", "resources": {"requests": {"cpu": "3"}}}
    verdict = judge(runner_pod("2", "1Gi", initContainers=[beside]), job=Resources.of({CPU: 2000, MEMORY: GIB}))

    assert verdict.fix == "list only g4dn.2xlarge in gpu-pools.t4-spot"


def test_a_node_takes_no_more_copies_than_it_has_addresses() -> None:
    shared = replace(POOL, sharing=Sharing(mode="time-slicing", replicas=48))

    assert place(shared, shared.first, BESIDE).copies(runner_pod("10m", "1Mi")) == 29 - len(BESIDE)


def test_an_unknown_type_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r'did you mean "g4dn\.xlarge'):
        judge(runner_pod(), replace(POOL, instance_types=("g4dn.xlrge",)))


@given(st.sampled_from(GPU_TYPES), st.integers(1, 200), st.integers(1, 1600), st.integers(0, 50), st.integers(0, 400))
def test_asking_for_more_never_fits_better(name: str, cpu: int, memory: int, more_cpu: int, more_memory: int) -> None:
    group = replace(POOL, instance_types=(name,))
    less = judge(runner_pod(str(cpu), f"{memory}Gi"), group)
    more = judge(runner_pod(str(cpu + more_cpu), f"{memory + more_memory}Gi"), group)

    assert more.level is Level.ERROR or less.level is Level.OK


@given(st.lists(st.sampled_from(GPU_TYPES), min_size=2, max_size=4), st.integers(1, 64), st.integers(1, 400))
def test_a_runner_fits_a_pool_exactly_where_it_fits_each_of_its_types(names: list[str], cpu: int, memory: int) -> None:
    pod = runner_pod(str(cpu), f"{memory}Gi")
    together = judge(pod, replace(POOL, instance_types=tuple(names)))
    each = [judge(pod, replace(POOL, instance_types=(name,))).level for name in names]

    assert together.level is max(each, key=lambda one: one is Level.ERROR)


@given(st.sampled_from(GPU_TYPES), st.integers(1, 64), st.integers(1, 400))
def test_what_is_suggested_fits(name: str, cpu: int, memory: int) -> None:
    group = replace(POOL, instance_types=(name,))
    verdict = judge(runner_pod(str(cpu), f"{memory}Gi"), group)
    ask = next((way for way in verdict.fix.split(", or ") if way.startswith("ask for ")), "").removeprefix("ask for ")
    asked = dict(part.split(": ") for part in ask.split(" and ")) if ask else {}
    larger = next((way.split()[2] for way in verdict.fix.split(", or ") if way.startswith("list only ")), None)

    if asked:
        assert (
            judge(runner_pod(asked.get("cpu", str(cpu)), asked.get("memory", f"{memory}Gi")), group).level is Level.OK
        )
    if larger:
        assert judge(runner_pod(str(cpu), f"{memory}Gi"), replace(group, instance_types=(larger,))).level is Level.OK
