"""A runner fits on every type of its pool, and a disk holds its image, or the check suggests a fix."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_ci.checks.nodes.fit import ImageUse, fits, image_fits, place
from gpu_ci.knowledge.kubernetes.allocatable import root_disk_for
from gpu_ci.knowledge.kubernetes.node_group import NodeGroupFacts
from gpu_ci.knowledge.kubernetes.pods import Pod
from gpu_ci.knowledge.kubernetes.quantities import EPHEMERAL_STORAGE, GIB
from gpu_ci.knowledge.machines import EC2_TYPES
from gpu_ci.knowledge.nearest import UnknownName
from gpu_ci.knowledge.verdict import Level, Verdict
from tests.knowledge.pools import DAEMONSETS, POOL, runner_pod

pytestmark = pytest.mark.pure

GPU_TYPES = sorted(name for name, machine in EC2_TYPES.items() if machine.gpu)


def judge(pod: Pod, group: NodeGroupFacts = POOL) -> Verdict:
    return fits("runners.gpu-t4", pod, group, DAEMONSETS)


def disk_pod(gib: int) -> Pod:
    """Return a pod that requests so much disk."""
    resources = {"requests": {"ephemeral-storage": f"{gib}Gi"}, "limits": {"nvidia.com/gpu": 1}}
    return runner_pod(containers=[{"resources": resources}])


def test_four_cores_and_16_gib_do_not_fit_on_a_g4dn_xlarge() -> None:
    verdict = judge(runner_pod("4", "16Gi"), replace(POOL, instance_types=("g4dn.xlarge", "g4dn.2xlarge")))

    assert verdict.level is Level.ERROR
    assert verdict.subject == "runners.gpu-t4"
    assert verdict.reason == (
        "a g4dn.xlarge of gpu-pools.t4-spot has at most 3.64 CPU and 14.1Gi after the kubelet and 5 DaemonSets, "
        "but it requests 4 CPU and 16Gi"
    )
    assert verdict.fix == "request cpu: 3 and memory: 14Gi, or list only g4dn.2xlarge in gpu-pools.t4-spot"


def test_three_cores_and_12_gib_fit_on_a_g4dn_xlarge() -> None:
    verdict = judge(runner_pod("3", "12Gi"))

    assert verdict.level is Level.OK
    assert "a g4dn.xlarge has 3.64 CPU and 14.1Gi for it" in verdict.reason


def test_a_larger_type_is_suggested_where_the_pool_has_none() -> None:
    assert judge(runner_pod("4", "16Gi")).fix.endswith("or list only g4dn.2xlarge in gpu-pools.t4-spot")


def test_only_lacking_resources_are_in_the_message() -> None:
    verdict = judge(runner_pod("3", "15Gi"))

    assert "CPU" not in verdict.reason
    assert verdict.fix.startswith("request memory: 14Gi")


def test_every_type_that_is_too_small_is_in_the_message() -> None:
    verdict = judge(
        runner_pod("12", "12Gi"), replace(POOL, instance_types=("g4dn.2xlarge", "g4dn.xlarge", "g4dn.4xlarge"))
    )

    assert "g4dn.xlarge of gpu-pools.t4-spot has at most 3.64 CPU" in verdict.reason
    assert "also too little on g4dn.2xlarge" in verdict.reason
    assert verdict.fix == "request cpu: 3, or list only g4dn.4xlarge in gpu-pools.t4-spot"


def test_a_job_with_two_gpus_does_not_fit_on_a_node_with_one_gpu() -> None:
    verdict = judge(runner_pod(gpus=2))

    assert "at most 1 nvidia.com/gpu" in verdict.reason
    assert verdict.fix == "request gpus: 1, or list only g4dn.12xlarge in gpu-pools.t4-spot"


def test_a_larger_disk_is_suggested() -> None:
    verdict = judge(disk_pod(180))

    assert "178.9Gi of disk" in verdict.reason
    assert verdict.fix.startswith("request disk: 178Gi")
    assert verdict.fix.endswith("or set gpu-pools.t4-spot.disk.size: 202Gi")


ON_STORE = replace(POOL, nvme_storage=True)
"""Nodes whose pods use the instance store. A g4dn.xlarge has 125 GB."""


def test_on_the_instance_store_no_larger_root_disk_is_suggested() -> None:
    verdict = judge(disk_pod(150), ON_STORE)

    assert "has at most 103.4Gi of disk" in verdict.reason
    assert verdict.fix.endswith("or remove gpu-pools.t4-spot.fast-image-pull, so that pods use the root disk")
    assert judge(disk_pod(150)).level is Level.OK


def test_a_root_disk_that_is_too_small_as_well_must_be_larger() -> None:
    verdict = judge(disk_pod(300), ON_STORE)

    assert verdict.fix.endswith("so that pods use the root disk, and set gpu-pools.t4-spot.disk.size: 335Gi")


@given(st.integers(1, 2000))
def test_the_suggested_disk_is_the_smallest_that_is_enough(gib: int) -> None:
    enough = root_disk_for(gib * GIB)

    assert judge(disk_pod(gib), replace(POOL, disk_gib=enough)).level is Level.OK
    assert judge(disk_pod(gib), replace(POOL, disk_gib=enough - 1)).level is Level.ERROR


def test_the_chain_has_the_reaction_of_the_autoscaler() -> None:
    assumed_to_fit = judge(runner_pod("3", "15000Mi"))
    too_small = judge(runner_pod("4", "12Gi"))

    assert assumed_to_fit.chain[-1].endswith("so it starts one useless g4dn.xlarge after another")
    assert too_small.chain[-1].endswith("so the job waits forever")


def test_a_job_that_no_type_of_the_model_can_hold_must_be_split() -> None:
    assert judge(runner_pod("500", "12Gi", gpus=16)).fix == "request cpu: 3 and gpus: 1"
    assert judge(runner_pod(gpus=1, cpu="1", memory="999Gi"), ON_STORE).fix.startswith("request memory")


def test_a_node_takes_no_more_copies_than_it_has_addresses() -> None:
    shared = replace(POOL, shares=48)

    assert place(shared, shared.first, DAEMONSETS).copies(runner_pod("10m", "1Mi")) == 29 - len(DAEMONSETS)


def test_the_error_for_an_unknown_type_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r'did you mean "g4dn\.xlarge'):
        judge(runner_pod(), replace(POOL, instance_types=("g4dn.xlrge",)))


@given(st.sampled_from(GPU_TYPES), st.integers(1, 200), st.integers(1, 1600), st.integers(0, 50), st.integers(0, 400))
def test_a_larger_request_never_fits_better(name: str, cpu: int, memory: int, more_cpu: int, more_memory: int) -> None:
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
def test_the_suggestion_fits(name: str, cpu: int, memory: int) -> None:
    group = replace(POOL, instance_types=(name,))
    verdict = judge(runner_pod(str(cpu), f"{memory}Gi"), group)
    fixes = verdict.fix.split(", or ")
    request = next((fix for fix in fixes if fix.startswith("request ")), "").removeprefix("request ")
    asked = dict(part.split(": ") for part in request.split(" and ")) if request else {}
    larger = next((fix.split()[2] for fix in fixes if fix.startswith("list only ")), None)

    if asked:
        assert (
            judge(runner_pod(asked.get("cpu", str(cpu)), asked.get("memory", f"{memory}Gi")), group).level is Level.OK
        )
    if larger:
        assert judge(runner_pod(str(cpu), f"{memory}Gi"), replace(group, instance_types=(larger,))).level is Level.OK


# Images.

IMAGE = "images.runner-gpu.compressed"
SECOND = replace(POOL, path="gpu-pools.steady")


def use(group: NodeGroupFacts = POOL, disk: int = 0) -> ImageUse:
    pod = runner_pod()
    pod = replace(pod, requests=pod.requests.with_amount(EPHEMERAL_STORAGE, disk * GIB))
    return ImageUse(runner="runners.gpu-t4", pod=pod, group=group)


def judge_image(size: int, *uses: ImageUse) -> list[Verdict]:
    return image_fits(IMAGE, size * GIB, uses)


def test_an_image_larger_than_the_disk_is_reported_once_for_all_pools() -> None:
    (verdict,) = judge_image(500, use(), use(SECOND))

    assert (verdict.level, verdict.subject) == (Level.ERROR, IMAGE)
    assert verdict.reason == (
        "the image takes at least 500Gi, but a g4dn.xlarge of gpu-pools.t4-spot has 178.9Gi of disk for it"
    )
    assert verdict.fix == (
        "make the image smaller, or set gpu-pools.t4-spot.disk.size: 557Gi, and set gpu-pools.steady.disk.size: 557Gi"
    )


def test_the_disk_that_the_job_requests_is_not_available_for_the_image() -> None:
    (verdict,) = judge_image(30, use(disk=160))

    assert verdict.reason.endswith("has 18.9Gi of disk for it next to the 160Gi of disk that runners.gpu-t4 requests")


def test_on_the_instance_store_no_larger_root_disk_is_suggested_for_an_image() -> None:
    (verdict,) = judge_image(150, use(ON_STORE))

    assert (
        verdict.fix
        == "make the image smaller, or remove gpu-pools.t4-spot.fast-image-pull, so that pods use the root disk"
    )


def test_a_pod_that_does_not_fit_without_any_image_is_reported_once() -> None:
    assert judge_image(5, use(disk=300)) == []


@given(st.integers(1, 900), st.integers(0, 150))
def test_the_suggested_disk_holds_the_image_and_the_files(size: int, disk: int) -> None:
    for verdict in judge_image(size, use(disk=disk)):
        enough = int(verdict.fix.rpartition(" ")[2].removesuffix("Gi"))

        assert judge_image(size, use(replace(POOL, disk_gib=enough), disk)) == []
        assert judge_image(size, use(replace(POOL, disk_gib=enough - 1), disk)) != []
