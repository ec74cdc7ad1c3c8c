"""A job that has a machine to itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.machine_fit import OwnDisk, disk_fits, machine_fits, usable_memory_mib
from gpu.machines import attach, ec2_type, gce_type, gpu_model
from gpu.verdict import Level

pytestmark = pytest.mark.pure

T4 = attach(gce_type("n1-standard-4"), gpu_model("t4"), 1)


def test_a_job_of_all_the_memory_that_is_sold_is_refused_with_what_fits() -> None:
    (found,) = machine_fits("runners.cirun-gcp-gpu", [T4], cpu=4, memory_mib=T4.memory_mib, gpus=1)

    assert found.level is Level.ERROR
    assert found.fix == "ask for cpu: 4, memory: 12Gi, or leave n1-standard-4 out for a larger one"


def test_every_machine_that_may_be_given_is_judged() -> None:
    machines = [ec2_type("g4dn.2xlarge"), ec2_type("g4dn.xlarge")]
    found = machine_fits("runners.cirun-aws-gpu", machines, cpu=6, memory_mib=20 * 1024, gpus=1)

    assert [verdict.reason.partition(" has ")[0] for verdict in found] == ["g4dn.xlarge"]


def test_a_machine_with_one_gpu_does_not_serve_a_job_with_two() -> None:
    (found,) = machine_fits("runners.two", [T4], cpu=1, memory_mib=1024, gpus=2)

    assert found.reason == "n1-standard-4 has 1 GPUs where 2 are asked for"


@given(cpu=st.integers(1, 16), memory=st.integers(1, 64 * 1024), more=st.integers(0, 8 * 1024))
def test_asking_for_more_never_makes_it_fit(cpu: int, memory: int, more: int) -> None:
    asked = machine_fits("r", [T4], cpu=cpu, memory_mib=memory, gpus=1)[0].level
    more_asked = machine_fits("r", [T4], cpu=cpu, memory_mib=memory + more, gpus=1)[0].level

    assert asked is Level.OK or more_asked is Level.ERROR


@given(memory=st.integers(1, 64 * 1024))
def test_it_fits_exactly_up_to_what_is_usable(memory: int) -> None:
    (found,) = machine_fits("r", [T4], cpu=1, memory_mib=memory, gpus=1)

    assert (found.level is Level.OK) == (memory <= usable_memory_mib(T4))


def own_disk(gib: int, wanted: int = 0, image: int = 0) -> OwnDisk:
    return OwnDisk(path="runners.r", stated="runners.r.cirun-gcp.disk", gib=gib, image_gib=image, wanted_gib=wanted)


def test_a_job_with_more_files_than_the_disk_holds_is_told_both_ways_out() -> None:
    (found,) = disk_fits(own_disk(100, 300))

    assert (found.level, found.subject) == (Level.ERROR, "runners.r")
    assert found.reason == "its machines have 90Gi of disk beside the system, and it asks for 300Gi"
    assert found.fix == "ask for disk: 90Gi, or state runners.r.cirun-gcp.disk: 310Gi"


def test_a_disk_smaller_than_the_image_is_told_where_it_is_stated() -> None:
    (found,) = disk_fits(own_disk(40, image=50))

    assert found.subject == "runners.r.cirun-gcp.disk"
    assert found.fix == "state at least 50Gi, or less as host-image.builder.disk"


@given(gib=st.integers(20, 400), wanted=st.integers(0, 400), image=st.integers(0, 100))
def test_a_disk_as_large_as_is_suggested_will_do(gib: int, wanted: int, image: int) -> None:
    for verdict in disk_fits(own_disk(gib, wanted, image)):
        enough = image if "smaller than" in verdict.reason else int(verdict.fix.rpartition(" ")[2].removesuffix("Gi"))

        assert disk_fits(own_disk(max(enough, image, wanted + 10), wanted, image)) == []
        assert disk_fits(own_disk(enough - 1, wanted, image)) != []
