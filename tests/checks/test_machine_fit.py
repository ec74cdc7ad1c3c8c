"""The check `fit` for jobs with a machine of their own."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_ci.back_ends.offer import HostSoftware
from gpu_ci.checks.nodes import machine_fit
from gpu_ci.checks.nodes.machine_fit import usable_memory_mib
from gpu_ci.knowledge.machines import attach, ec2_type, gce_type, gpu_model
from gpu_ci.knowledge.verdict import Level, Verdict
from tests.checks.stacks import NEEDS, PATH, offer, verdicts

pytestmark = pytest.mark.pure

T4 = attach(gce_type("n1-standard-4"), gpu_model("t4"), 1)
SMALL = {"cpu": 1, "memory": "1Gi", "gpus": 1}


def fit(*machines: object, **needs: object) -> list[Verdict]:
    changes = {f"{NEEDS}/{key}": value for key, value in {**SMALL, **needs}.items()}
    return verdicts(machine_fit, changes, offer(*machines))  # type: ignore[arg-type]  # machines of either cloud


def test_a_job_that_needs_more_than_the_whole_memory_is_refused() -> None:
    (found,) = fit(T4, cpu=4, memory="16Gi")

    assert (found.level, found.subject) == (Level.ERROR, PATH)
    assert found.fix == "ask for cpu: 4, memory: 13Gi, or replace n1-standard-4 by a larger type"


def test_a_job_that_needs_the_memory_of_the_system_gets_a_warning() -> None:
    (found,) = fit(T4, cpu=4, memory="15Gi")

    assert (found.level, found.subject) == (Level.WARNING, PATH)
    assert found.reason == "n1-standard-4 has about 13441 MiB of memory for the job, which needs 15360"
    assert found.fix == "ask for memory: 13Gi, or replace n1-standard-4 by a larger type"


def test_every_machine_type_is_checked() -> None:
    found = fit(ec2_type("g4dn.2xlarge"), ec2_type("g4dn.xlarge"), cpu=6, memory="20Gi")

    assert [verdict.reason.partition(" has ")[0] for verdict in found] == ["g4dn.xlarge"]


def test_a_machine_with_one_gpu_does_not_serve_a_job_with_two() -> None:
    changes = {"runners/cirun-gcp-gpu/cirun-gcp/machine-types": ["g2-standard-24"], f"{NEEDS}/gpu": "l4"}
    (found,) = verdicts(machine_fit, {**changes, f"{NEEDS}/gpus": 2}, offer(gce_type("g2-standard-4")))

    assert found.reason == "g2-standard-4 has 1 GPUs but the job needs 2"


@pytest.mark.parametrize(("more", "level"), [(0, Level.OK), (1, Level.WARNING)])
def test_a_job_can_use_exactly_the_usable_memory(more: int, level: Level) -> None:
    (found,) = fit(T4, memory=f"{usable_memory_mib(T4) + more}Mi")

    assert found.level is level


def disk(gib: int, wanted: int = 0, image: int = 0) -> list[Verdict]:
    changes = {f"{NEEDS}/{key}": value for key, value in SMALL.items()}
    changes |= {f"{NEEDS}/disk": f"{wanted}Gi"} if wanted else {}
    found = verdicts(
        machine_fit, changes, offer(T4, disk_gib=gib, image_gib=image, host=HostSoftware(builds_image=True))
    )
    return [verdict for verdict in found if verdict.level is Level.ERROR]


def test_a_disk_without_room_for_the_files_of_a_job_is_an_error() -> None:
    (found,) = disk(100, 300)

    assert (found.level, found.subject) == (Level.ERROR, PATH)
    assert found.reason == "its machines have 90Gi of disk besides the system, and it asks for 300Gi"
    assert found.fix == f"ask for disk: 90Gi, or state {PATH}.section.disk: 310Gi"


def test_a_disk_smaller_than_its_image_is_an_error_at_the_disk() -> None:
    (found,) = disk(40, image=50)

    assert found.subject == f"{PATH}.section.disk"
    assert found.fix == "state at least 50Gi, or a smaller host-image.builder.disk"


@given(gib=st.integers(20, 400), wanted=st.integers(0, 400), image=st.integers(0, 100))
def test_the_suggested_disk_is_the_smallest_that_passes(gib: int, wanted: int, image: int) -> None:
    for verdict in disk(gib, wanted, image):
        enough = image if "smaller than" in verdict.reason else int(re.findall(r"disk: (\d+)Gi$", verdict.fix)[0])

        assert disk(max(enough, image, wanted + 10), wanted, image) == []
        assert disk(enough - 1, wanted, image) != []


def test_a_part_of_a_gpu_is_one_device_of_which_another_check_reports_the_memory() -> None:
    assert [found.level for found in fit(ec2_type("g6f.xlarge"))] == [Level.OK]
