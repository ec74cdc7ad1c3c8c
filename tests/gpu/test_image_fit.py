"""An image that a node's disk does not hold is refused before a node is bought for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.image_fit import ImageUse, image_fits
from gpu.kubernetes.quantities import EPHEMERAL_STORAGE, GIB
from gpu.verdict import Level
from tests.gpu.pools import POOL, runner_pod

if TYPE_CHECKING:
    from gpu.kubernetes.node_group import NodeGroupFacts
    from gpu.verdict import Verdict

pytestmark = pytest.mark.pure

PATH = "images.runner-gpu.compressed"
STEADY = replace(POOL, path="gpu-pools.steady")


def use(group: NodeGroupFacts = POOL, disk: int = 0) -> ImageUse:
    pod = runner_pod()
    pod = replace(pod, requests=pod.requests.with_amount(EPHEMERAL_STORAGE, disk * GIB))
    return ImageUse(runner="runners.gpu-t4", pod=pod, group=group)


def judge(size: int, *uses: ImageUse) -> list[Verdict]:
    return image_fits(PATH, size * GIB, uses)


def test_an_image_larger_than_the_disk_is_told_once_for_all_pools() -> None:
    (verdict,) = judge(500, use(), use(STEADY))

    assert (verdict.level, verdict.subject) == (Level.ERROR, PATH)
    assert verdict.reason == (
        "500Gi are pulled, unpacked they are no less, and a g4dn.xlarge of gpu-pools.t4-spot has 179Gi of disk for them"
    )
    assert verdict.fix == (
        "make the image smaller, or give gpu-pools.t4-spot a larger disk: 557Gi, or give gpu-pools.steady a larger disk: "
        "557Gi"
    )


def test_what_the_job_asks_for_is_no_room_for_the_image() -> None:
    (verdict,) = judge(30, use(disk=160))

    assert verdict.reason.endswith("has 19Gi of disk for them beside the 160Gi of disk that runners.gpu-t4 asks for")


def test_on_the_instance_store_no_larger_root_disk_is_suggested() -> None:
    (verdict,) = judge(150, use(replace(POOL, nvme_storage=True)))

    assert verdict.fix == "make the image smaller, or leave gpu-pools.t4-spot.fast-image-pull out"


def test_a_job_that_does_not_fit_without_any_image_is_left_to_the_check_of_its_pod() -> None:
    assert judge(5, use(disk=300)) == []


@given(st.integers(1, 900), st.integers(0, 150))
def test_a_disk_as_large_as_is_suggested_holds_both(size: int, disk: int) -> None:
    for verdict in judge(size, use(disk=disk)):
        enough = int(verdict.fix.rpartition(" ")[2].removesuffix("Gi"))

        assert judge(size, use(replace(POOL, disk_gib=enough), disk)) == []
        assert judge(size, use(replace(POOL, disk_gib=enough - 1), disk)) != []
