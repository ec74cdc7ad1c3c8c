"""The support of drivers for CUDA toolkits, and of toolkits for GPUs."""

from __future__ import annotations

from itertools import pairwise

import pytest

from gpu_ci.knowledge.nearest import UnknownName
from gpu_ci.knowledge.software.architectures import ARCHITECTURES, architecture
from gpu_ci.knowledge.software.cuda import FLOORS, TOOLKITS, Support, dropped, native, support, toolkit
from gpu_ci.knowledge.software.drivers import BRANCHES, Driver, branch
from gpu_ci.knowledge.software.versions import UnknownVersion, nearest_version, parse

pytestmark = pytest.mark.pure


def driver(text: str) -> Driver:
    """Return a driver by its branch or by its exact version."""
    version = parse(text)
    return Driver(name=text, branch=branch(version[0]), version=version if len(version) > 1 else None)


@pytest.mark.parametrize(
    ("name", "wanted", "found"),
    [
        ("580.159.03", "12.9", Support.FULL),
        ("580.159.03", "13.0", Support.FULL),
        ("580.159.03", "13.2", Support.MINOR_VERSION),
        ("570", "13.0", Support.NONE),
        ("525.60.13", "12.9", Support.MINOR_VERSION),
        ("525.60.12", "12.0", Support.NONE),
        ("525", "12.0", Support.FULL),
        ("520", "12.0", Support.NONE),
        ("450", "11.8", Support.MINOR_VERSION),
        ("615", "11.0", Support.FULL),
    ],
)
def test_a_driver_supports_its_own_generation_and_all_older_ones(name: str, wanted: str, found: Support) -> None:
    assert support(driver(name), toolkit(wanted)) is found


def test_each_branch_fully_supports_its_own_cuda() -> None:
    own = {number: row.cuda for number, row in BRANCHES.items() if row.cuda in TOOLKITS}
    weak = [n for n, cuda in own.items() if support(driver(str(n)), TOOLKITS[cuda]) is not Support.FULL]

    assert len(own) == len(BRANCHES) - 1, "only R565 has a CUDA version without a toolkit"
    assert weak == []


def test_no_branch_fully_supports_the_next_cuda() -> None:
    ordered = list(TOOLKITS.values())
    following = {one.version: two for one, two in pairwise(ordered)}
    strong = [
        number
        for number, row in BRANCHES.items()
        if row.cuda in following and support(driver(str(number)), following[row.cuda]) is Support.FULL
    ]

    assert strong == []


def test_the_minimum_driver_of_a_major_version_is_that_of_its_first_toolkit() -> None:
    assert {major: TOOLKITS[major, 0].driver <= floor for major, floor in FLOORS.items()} == {
        11: True,
        12: True,
        13: True,
    }
    assert FLOORS[13] == (580, 65, 6)


@pytest.mark.parametrize(
    ("name", "near"), [("12.7", "12.6"), ("14.0", "13.4"), ("10.2", "11.0"), ("12.9.7", "12.9.2"), ("13.4.0", "13.4.1")]
)
def test_an_unknown_version_names_the_nearest_one(name: str, near: str) -> None:
    with pytest.raises(UnknownVersion) as fault:
        toolkit(name)

    assert fault.value.nearest == near


def test_a_text_that_is_not_a_version_is_an_error() -> None:
    with pytest.raises(UnknownName, match="twelve is not a known CUDA version"):
        toolkit("twelve")


def test_a_point_release_belongs_to_its_minor_version() -> None:
    assert toolkit("12.9.1") is toolkit("12.9")
    assert toolkit("12.9").newest == "12.9.2"


def test_cuda_13_does_not_support_gpus_older_than_turing() -> None:
    dropped_names = {row.sm for row in ARCHITECTURES.values() if dropped(toolkit("13.0"), row)}

    assert dropped_names == {"sm_50", "sm_52", "sm_60", "sm_61", "sm_70"}
    assert not any(dropped(toolkit("12.9"), row) for row in ARCHITECTURES.values())


@pytest.mark.parametrize(
    ("wanted", "capability", "can"),
    [
        ("11.0", (8, 6), True),  # machine code for 8.0 runs on 8.6
        ("11.7", (9, 0), False),
        ("11.8", (9, 0), True),
        ("12.6", (12, 0), False),
        ("12.8", (10, 3), True),
        ("13.0", (7, 0), False),
    ],
)
def test_machine_code_runs_on_a_higher_minor_capability(wanted: str, capability: tuple[int, int], can: bool) -> None:
    assert native(toolkit(wanted), architecture(capability)) is can


def test_the_older_of_two_equally_near_versions_is_suggested() -> None:
    assert nearest_version((12, 7), [(12, 8), (12, 6), (13, 0)]) == (12, 6)
