"""NVIDIA's driver branches, Ubuntu's packages, and the drivers of machine images."""

from __future__ import annotations

from datetime import date

import pytest

from gpu_ci.knowledge.machines import GPU_MODELS
from gpu_ci.knowledge.nearest import UnknownName
from gpu_ci.knowledge.software.architectures import ARCHITECTURES, KernelModule, architecture
from gpu_ci.knowledge.software.drivers import BRANCHES, Designation, Driver, branch, ubuntu_driver, written
from gpu_ci.knowledge.software.machine_images import MACHINE_IMAGES, driver_of
from gpu_ci.knowledge.software.versions import UnknownVersion

pytestmark = pytest.mark.pure

R580 = branch(580)


def test_an_ubuntu_package_has_the_proprietary_kernel_modules() -> None:
    found = ubuntu_driver("580")

    assert (found.branch, found.version, found.instead_of) == (R580, None, None)
    assert (found.name, found.module) == ("linux-modules-nvidia-580-server-gcp", KernelModule.PROPRIETARY)


def test_a_transitional_package_installs_another_branch() -> None:
    found = ubuntu_driver("535")

    assert (found.branch, found.instead_of) == (R580, 535)


def test_an_unknown_branch_names_the_nearest_one() -> None:
    with pytest.raises(UnknownVersion, match='585 is not a known driver branch; did you mean "580"'):
        ubuntu_driver("585")


@pytest.mark.parametrize(
    ("number", "version", "newer"),
    [(580, None, True), (580, (580, 65, 6), True), (580, (580, 10), False), (575, None, False)],
)
def test_a_branch_counts_as_its_newest_release(number: int, version: tuple[int, ...] | None, newer: bool) -> None:
    assert Driver(name="x", branch=branch(number), version=version).at_least((580, 65, 6)) is newer


@pytest.mark.parametrize(("version", "text"), [((580, 65, 6), "580.65.06"), ((570, 26), "570.26"), ((615,), "R615")])
def test_a_version_is_written_as_nvidia_writes_it(version: tuple[int, ...], text: str) -> None:
    assert written(version) == text


def test_long_term_support_is_the_longest() -> None:
    ends = {number: row.ends for number, row in BRANCHES.items() if row.ends}

    assert ends[580] == date(2028, 6, 30) == max(ends.values())
    assert BRANCHES[580].designation is Designation.LONG_TERM_SUPPORT
    assert BRANCHES[535].ended(date(2026, 7, 1))
    assert not BRANCHES[535].ended(date(2026, 6, 30))
    assert not BRANCHES[615].ended(date(2099, 1, 1))


def test_each_branch_implements_a_newer_cuda_than_the_one_before() -> None:
    known = [row.cuda for _, row in sorted(BRANCHES.items())]

    assert known == sorted(set(known))


@pytest.mark.parametrize("version", ["", "1.35.6-", "1.36.2-"])
def test_an_eks_release_has_one_driver_for_all_kubernetes_versions(version: str) -> None:
    assert driver_of(f"AL2023_x86_64_NVIDIA:{version}20260714").label == "580.159.03"


def test_an_unknown_eks_release_names_the_nearest_one() -> None:
    with pytest.raises(UnknownName, match='did you mean "AL2023_x86_64_NVIDIA:20260714"'):
        driver_of("AL2023_x86_64_NVIDIA:1.35.6-20260917")


def test_every_machine_image_has_a_known_driver() -> None:
    assert {driver_of(name).branch.number for name in MACHINE_IMAGES} == {580, 595}


@pytest.mark.parametrize(
    ("slug", "modules"),
    [
        ("v100", {"proprietary"}),
        ("t4", {"open", "proprietary"}),
        ("h100", {"open", "proprietary"}),
        ("rtx-pro-6000", {"open"}),
    ],
)
def test_kernel_modules_change_at_turing_and_at_blackwell(slug: str, modules: set[str]) -> None:
    assert {str(module) for module in architecture(GPU_MODELS[slug].capability).modules} == modules


def test_every_gpu_model_has_an_architecture() -> None:
    assert {model.capability for model in GPU_MODELS.values()} <= set(ARCHITECTURES)


def test_an_unknown_architecture_is_an_error() -> None:
    with pytest.raises(UnknownName, match="sm_110 is not a known GPU architecture"):
        architecture((11, 0))
