"""The wheels that a version installs, and the GPUs that they have code for."""

from __future__ import annotations

import pytest

from gpu_ci.knowledge.nearest import UnknownName
from gpu_ci.knowledge.software.architectures import architecture
from gpu_ci.knowledge.software.cuda import TOOLKITS, dropped
from gpu_ci.knowledge.software.frameworks import ONNXRUNTIME, TORCH, builds_of, onnxruntime, torch
from gpu_ci.knowledge.software.versions import UnknownVersion

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("version", "variant"),
    [
        ("2.0.1", "cu117"),
        ("2.5", "cu124"),
        ("2.8.0", "cu128"),
        ("2.11.0", "cu130"),
        ("2.14.1", "cu130"),
        ("2.15.0", "cu132"),
        ("2.14.1+cu126", "cu126"),
        ("2.14+cu132", "cu132"),
    ],
)
def test_a_version_without_a_variant_installs_the_default(version: str, variant: str) -> None:
    assert torch(version).variant == variant


def test_each_release_has_one_default() -> None:
    releases = {release for release, _ in TORCH}

    assert {release: sum(build.default for build in builds_of(release)) for release in releases} == dict.fromkeys(
        releases, 1
    )


@pytest.mark.parametrize(
    ("version", "near"),
    [("2.16.0", "2.15"), ("1.13", "2.0"), ("2.9.7", "2.9.1"), ("2.15+cu126", "13.0"), ("2.9+cu132", "13.0")],
)
def test_an_unknown_wheel_names_the_nearest_one(version: str, near: str) -> None:
    with pytest.raises(UnknownVersion) as fault:
        torch(version)

    assert fault.value.nearest == near


@pytest.mark.parametrize("version", ["nightly", "2.9.0.dev1", "2.9+cpu"])
def test_a_text_that_is_not_a_release_is_an_error(version: str) -> None:
    with pytest.raises(UnknownName):
        torch(version)


@pytest.mark.parametrize(
    ("version", "capability", "runs"),
    [
        ("2.14.1+cu126", (7, 0), True),
        ("2.11+cu128", (7, 0), False),  # Volta left the CUDA 12.8 wheels with 2.11
        ("2.10+cu128", (7, 0), True),
        ("2.14.1+cu130", (7, 0), False),
        ("2.14.1+cu130", (7, 5), True),
        ("2.14.1+cu130", (8, 9), True),  # by the machine code for 8.6
        ("2.6+cu126", (12, 0), False),
        ("2.8+cu128", (12, 1), True),  # by the machine code for 12.0
        ("2.8+cu128", (10, 3), True),
    ],
)
def test_a_wheel_runs_on_gpus_that_it_has_machine_code_for(
    version: str, capability: tuple[int, int], runs: bool
) -> None:
    assert torch(version).runs_on(architecture(capability)) is runs


def test_no_wheel_has_code_for_gpus_that_its_cuda_dropped() -> None:
    impossible = [
        (build.label, code)
        for build in TORCH.values()
        if build.cuda in TOOLKITS
        for code in build.machine_code
        if dropped(TOOLKITS[build.cuda], architecture(code)) or architecture(code).first_cuda > build.cuda
    ]

    assert impossible == []
    assert {build.cuda for build in TORCH.values()} <= set(TOOLKITS)


@pytest.mark.parametrize(
    ("version", "cuda", "cudnn"),
    [("1.18.1", 11, 8), ("1.19", 12, 9), ("1.26.0", 12, 9), ("1.27", 13, 9), ("1.31.1", 13, 9)],
)
def test_onnx_runtime_changed_its_cuda_at_1_19_and_at_1_27(version: str, cuda: int, cudnn: int) -> None:
    found = onnxruntime(version)

    assert (found.cuda, found.cudnn) == (cuda, cudnn)


def test_an_unknown_onnx_runtime_names_the_newest_one() -> None:
    with pytest.raises(UnknownVersion, match=r'1\.40 is not a known onnxruntime-gpu version; did you mean "1\.31"'):
        onnxruntime("1.40.0")
    with pytest.raises(UnknownName):
        onnxruntime("latest")

    assert max(ONNXRUNTIME) == (1, 31)
