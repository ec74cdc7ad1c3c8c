"""A machine that is of no use for testing GPU code is refused, one that barely is, is warned of."""

from __future__ import annotations

import pytest

from checks.floor import floor
from gpu.machines import attach, ec2_type, gce_type, gpu_model
from gpu.verdict import Level

pytestmark = pytest.mark.pure

PATH = "runners.gpu-t4"


@pytest.mark.parametrize(
    ("name", "cuda", "level"),
    [
        ("g4dn.xlarge", "12.9", Level.OK), ("g4dn.xlarge", "13.0", Level.OK), ("p3.2xlarge", "12.9", Level.OK),
        ("p3.2xlarge", "13.0", Level.ERROR), ("g6f.xlarge", "12.9", Level.ERROR), ("m6i.xlarge", "12.9", Level.ERROR),
        ("p3.2xlarge", "11.8", Level.OK), ("p3.2xlarge", "14.0", Level.ERROR),
    ],
)  # fmt: skip
def test_a_machine_is_of_use_for_a_cuda_version(name: str, cuda: str, level: Level) -> None:
    assert floor(PATH, ec2_type(name), cuda=cuda, disk_gib=100)[0].level is level


def test_cuda_13_on_a_v100_says_what_would_do() -> None:
    (verdict,) = floor(PATH, ec2_type("p3.2xlarge"), cuda="13.0", disk_gib=100)

    assert verdict.reason == "v100 has compute capability 7.0, and CUDA 13.0 needs 7.5"
    assert verdict.fix == "choose a newer GPU, or CUDA 12"


def test_a_pascal_gpu_is_below_every_floor() -> None:
    machine = attach(gce_type("n1-standard-4"), gpu_model("p100"), 1)

    assert [verdict.fix for verdict in floor(PATH, machine, cuda="12.9", disk_gib=50)] == ["choose a newer GPU"]


def test_a_t4_on_the_smallest_usual_google_machine_is_enough() -> None:
    machine = attach(gce_type("n1-standard-4"), gpu_model("t4"), 1)

    assert floor(PATH, machine, cuda="13.0", disk_gib=50)[0].level is Level.OK


def test_everything_that_is_short_is_named() -> None:
    verdicts = floor(PATH, ec2_type("g6f.large"), cuda="12.9", disk_gib=20)

    assert [verdict.reason for verdict in verdicts] == [
        "g6f.large has 3 GB of GPU memory, and 8 are the least of use",
        "g6f.large has 2 vCPU, and 4 are the least of use",
        "g6f.large has 8.6 GB of memory, and 16 are the least of use",
        "its machines get 21.5 GB of disk, and 50 are the least of use",
    ]
    assert [verdict.level for verdict in verdicts] == [Level.ERROR] * 3 + [Level.WARNING]


def test_a_disk_that_is_small_is_warned_of_since_the_type_is_of_use() -> None:
    (verdict,) = floor(PATH, ec2_type("g4dn.xlarge"), cuda="12.9", disk_gib=40)

    assert (verdict.level, verdict.fix) == (Level.WARNING, "state a larger disk")


def test_where_the_gpu_is_judged_elsewhere_the_rest_of_the_machine_is_judged_still() -> None:
    machine = attach(gce_type("n1-standard-2"), gpu_model("v100"), 1)

    assert [verdict.reason.split(",")[0] for verdict in floor(PATH, machine, cuda=None, disk_gib=50)] == [
        "n1-standard-2 has 2 vCPU",
        "n1-standard-2 has 8.1 GB of memory",
    ]
    assert floor(PATH, ec2_type("p3.2xlarge"), cuda=None, disk_gib=50)[0].level is Level.OK
