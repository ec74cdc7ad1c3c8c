"""How a driver is named, and which one a machine image carries."""

from __future__ import annotations

from datetime import date

import pytest

from gpu.machines import GPU_MODELS
from gpu.nearest import UnknownName
from gpu.software.architectures import ARCHITECTURES, KernelModule, architecture
from gpu.software.drivers import BRANCHES, Designation, driver
from gpu.software.machine_images import MACHINE_IMAGES, driver_of, machine_image
from gpu.software.versions import UnknownVersion

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    "name", ["580", "R580", "nvidia-driver-580-server", "linux-modules-nvidia-580-server-open-gcp"]
)
def test_a_branch_has_many_names(name: str) -> None:
    found = driver(name)

    assert (found.branch.number, found.version) == (580, None)


def test_an_exact_version_is_kept_as_it_is_written() -> None:
    found = driver("580.159.03")

    assert (found.label, found.version) == ("580.159.03", (580, 159, 3))


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("580", None),
        ("nvidia-driver-580-server", KernelModule.PROPRIETARY),
        ("nvidia-driver-580-server-open", KernelModule.OPEN),
        ("nvidia-headless-no-dkms-580-server-open", KernelModule.OPEN),
        ("nvidia-open-580", KernelModule.OPEN),
        ("cuda-drivers-580", KernelModule.PROPRIETARY),
    ],
)
def test_a_package_commits_to_a_kernel_module_and_a_branch_does_not(name: str, module: KernelModule | None) -> None:
    assert driver(name).module is module


def test_a_transitional_package_brings_the_branch_that_it_pulls_in() -> None:
    found = driver("nvidia-driver-535-server")

    assert (found.branch.number, found.instead_of) == (580, 535)
    assert driver("nvidia-driver-535").instead_of is None


def test_an_unknown_branch_names_the_nearest_one() -> None:
    with pytest.raises(UnknownVersion, match="585 is not a known driver branch; the nearest known one is 580"):
        driver("585.10")


@pytest.mark.parametrize("name", ["latest", "nvidia-utils-580", "58", ""])
def test_what_names_no_driver_is_refused(name: str) -> None:
    with pytest.raises(UnknownName):
        driver(name)


def test_a_branch_counts_as_its_newest_release_and_a_version_as_itself() -> None:
    assert driver("580").at_least((580, 65, 6))
    assert driver("580.65.06").at_least((580, 65, 6))
    assert not driver("580.10").at_least((580, 65, 6))
    assert not driver("575").at_least((580, 65, 6))


def test_long_term_support_lives_longest() -> None:
    ends = {number: row.ends for number, row in BRANCHES.items() if row.ends}

    assert ends[580] == date(2028, 6, 30) == max(ends.values())
    assert BRANCHES[580].designation is Designation.LONG_TERM_SUPPORT
    assert BRANCHES[535].ended(date(2026, 7, 1))
    assert not BRANCHES[535].ended(date(2026, 6, 30))
    assert not BRANCHES[615].ended(date(2099, 1, 1))


def test_each_branch_knows_a_newer_cuda_than_the_one_before() -> None:
    known = [row.cuda for _, row in sorted(BRANCHES.items())]

    assert known == sorted(set(known))


@pytest.mark.parametrize(
    "name",
    [
        "AL2023_x86_64_NVIDIA:20260714",
        "AL2023_x86_64_NVIDIA:1.35.6-20260714",
        "AL2023_x86_64_NVIDIA:1.36.2-20260714",
        "amazon-eks-node-al2023-x86_64-nvidia-1.35-v20260714",
    ],
)
def test_one_eks_release_has_one_driver_under_each_of_its_names(name: str) -> None:
    assert driver_of(machine_image(name)).label == "580.159.03"


def test_an_unknown_eks_release_is_not_taken_for_a_known_one() -> None:
    with pytest.raises(UnknownName, match='did you mean "AL2023_x86_64_NVIDIA:20260714'):
        machine_image("AL2023_x86_64_NVIDIA:1.35.6-20260917")


def test_an_ssm_parameter_may_be_written_as_cirun_resolves_it() -> None:
    name = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id"
    found = machine_image(f"resolve:ssm:{name}")

    assert (found.name, found.moving, driver_of(found).module) == (name, True, KernelModule.OPEN)


def test_every_machine_image_carries_a_known_driver() -> None:
    branches = {name: driver_of(image).branch.number for name, image in MACHINE_IMAGES.items()}

    assert set(branches.values()) == {550, 580, 595, 610}


def test_kernel_modules_divide_at_turing_and_at_blackwell() -> None:
    def modules(slug: str) -> set[str]:
        return {str(module) for module in architecture(GPU_MODELS[slug].capability).modules}

    assert modules("v100") == {"proprietary"}
    assert modules("t4") == modules("h100") == {"open", "proprietary"}
    assert modules("rtx-pro-6000") == {"open"}


def test_every_gpu_model_has_an_architecture() -> None:
    assert {model.capability for model in GPU_MODELS.values()} <= set(ARCHITECTURES)


def test_an_unknown_architecture_is_refused() -> None:
    with pytest.raises(UnknownName, match="sm_110 is not a known GPU architecture"):
        architecture((11, 0))
