"""The CUDA and torch versions that image references name, and the life of their tags."""

from __future__ import annotations

from contextlib import suppress
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_ci.knowledge.nearest import UnknownName
from gpu_ci.knowledge.software.cuda import TOOLKITS
from gpu_ci.knowledge.software.image_tags import (
    Origin,
    container_image,
    deleted_from,
    end_of_life,
    newest_of,
    nvidia_tags,
    superseded,
)

pytestmark = pytest.mark.pure

DIGEST = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("reference", "cuda", "point"),
    [
        ("nvidia/cuda:12.9.1-cudnn-runtime-ubuntu24.04", "12.9", "12.9.1"),
        ("docker.io/nvidia/cuda:13.0.2-base-ubuntu24.04", "13.0", "13.0.2"),
        ("nvcr.io/nvidia/cuda:13.3.1-devel-rockylinux9", "13.3", "13.3.1"),
        (f"nvidia/cuda:12.3.2-cudnn9-devel-ubuntu22.04@{DIGEST}", "12.3", "12.3.2"),
        ("registry.example:5000/mirror/nvidia/cuda:12.8.1-base-ubi9", "12.8", "12.8.1"),
    ],
)
def test_a_tag_of_nvidia_names_its_cuda(reference: str, cuda: str, point: str) -> None:
    found = container_image(reference)

    assert found.cuda is not None
    assert (found.origin, found.cuda.label, found.point) == (Origin.NVIDIA_CUDA, cuda, point)


def test_a_tag_of_pytorch_names_its_wheel() -> None:
    found = container_image("pytorch/pytorch:2.14.0-cuda12.6-cudnn9-runtime")

    assert found.torch is not None
    assert (found.origin, found.torch.variant, found.torch.release) == (Origin.PYTORCH, "cu126", (2, 14))


@pytest.mark.parametrize(
    ("reference", "origin"),
    [
        ("ghcr.io/actions/actions-runner:2.335.0", Origin.GITHUB_RUNNER),
        ("123456789012.dkr.ecr.us-west-2.amazonaws.com/runner-gpu:1.4.0", Origin.OTHER),
        ("localhost:5000/cuda", Origin.OTHER),
        (f"ubuntu@{DIGEST}", Origin.OTHER),
    ],
)
def test_other_images_name_no_cuda(reference: str, origin: Origin) -> None:
    found = container_image(reference)

    assert (found.origin, found.cuda, found.torch) == (origin, None, None)


@pytest.mark.parametrize(
    ("reference", "near"),
    [
        ("nvidia/cuda:12.9.9-base-ubuntu24.04", "12.9.2-base-ubuntu24.04"),
        ("nvidia/cuda:12.7.0-base-ubuntu24.04", "12.6.3-base-ubuntu24.04"),
        ("nvidia/cuda:13.0-base-ubuntu24.04", "13.0.3-base-ubuntu24.04"),
        ("nvidia/cuda:12.9.1-runtme-ubuntu24.04", "12.9.1-runtime-ubuntu24.04"),
        ("nvidia/cuda:12.9.1-runtime-ubuntu24.05", "12.9.1-runtime-ubuntu24.04"),
        ("nvidia/cuda:12.9.1-cudn-runtime-ubuntu24.04", "12.9.1-cudnn-runtime-ubuntu24.04"),
        ("nvidia/cuda:13.0.3-cudnn8-runtime-ubuntu24.04", "13.0.3-cudnn-runtime-ubuntu24.04"),
        ("nvidia/cuda:12.2.2-cudnn-devel-ubuntu22.04", "12.2.2-cudnn8-devel-ubuntu22.04"),
        ("nvidia/cuda:12.3.2-cudnn8-devel-ubuntu22.04", "12.3.2-cudnn9-devel-ubuntu22.04"),
        ("nvidia/cuda:13.0.3-cudnn-base-ubuntu24.04", "13.0.3-base-ubuntu24.04"),
        ("nvidia/cuda:13.0.3-base-ubuntu20.04", "13.0.3-base-ubuntu24.04"),
        ("nvidia/cuda:13.0.3-base-ubuntu26.04", "13.0.3-base-ubuntu24.04"),
        ("nvidia/cuda:11.8.0-base-ubuntu24.04", "11.8.0-base-ubuntu22.04"),
        ("nvidia/cuda:12.5.0-base-ubuntu24.04", "12.5.0-base-ubuntu22.04"),
        ("registry.example/p/cuda:13.0.9-base-ubuntu24.04", "13.0.3-base-ubuntu24.04"),
        ("pytorch/pytorch:2.15.0-cuda12.6-cudnn9-runtime", "13.0"),
        ("pytorch/pytorch:2.99.0-cuda13.0-cudnn9-runtime", "2.15"),
    ],
)
def test_a_tag_that_does_not_exist_names_the_nearest_one(reference: str, near: str) -> None:
    with pytest.raises(UnknownName) as fault:
        container_image(reference)

    assert fault.value.nearest == near


def test_a_version_alone_suggests_a_complete_tag() -> None:
    with pytest.raises(UnknownName, match=r"known: 13\.0\.3-base-ubuntu24\.04"):
        container_image("nvidia/cuda:13.0.3")


def test_every_listed_tag_can_be_read() -> None:
    listed = {row.newest: nvidia_tags(row.newest) for row in TOOLKITS.values()}

    assert [version for version, tags in listed.items() if not tags] == []
    assert [
        (version, tag)
        for version, tags in listed.items()
        for tag in tags
        if container_image(f"nvidia/cuda:{tag}").point != version
    ] == []


@given(st.sampled_from(sorted(TOOLKITS)), st.text("0123456789.-abcdenrstuv", max_size=30))
def test_the_suggested_tag_can_be_read(version: tuple[int, int], rest: str) -> None:
    try:
        container_image(f"nvidia/cuda:{TOOLKITS[version].newest}-{rest}")
    except UnknownName as fault:
        offered = container_image(f"nvidia/cuda:{fault.known[0]}")

        assert offered.origin is Origin.NVIDIA_CUDA


@pytest.mark.parametrize(
    ("reference", "kept"),
    [
        ("nvidia/cuda:13.0.3-base-ubuntu24.04", False),
        (f"nvcr.io/nvidia/cuda:13.0.3-base-ubuntu24.04@{DIGEST}", False),
        ("docker.io/nvidia/cuda:13.0.3-base-ubuntu24.04", False),
        ("us-central1-docker.pkg.dev/project/gpu-tests/cuda:13.0.3-base-ubuntu24.04", True),
        (f"localhost:5000/cuda:13.0.3-base-ubuntu24.04@{DIGEST}", True),
    ],
)
def test_a_copy_in_another_registry_is_kept_and_names_its_cuda(reference: str, kept: bool) -> None:
    found = container_image(reference)

    assert (found.origin, found.point, found.kept) == (Origin.NVIDIA_CUDA, "13.0.3", kept)


@pytest.mark.parametrize("reference", [f"nvidia/cuda@{DIGEST}", f"pytorch/pytorch@{DIGEST}", "r.example/cuda:2026.11"])
def test_a_digest_or_another_tag_names_no_cuda(reference: str) -> None:
    assert (container_image(reference).origin, container_image(reference).cuda) == (Origin.OTHER, None)


def test_the_runner_image_is_identified_by_its_digest() -> None:
    assert container_image(f"ghcr.io/actions/actions-runner@{DIGEST}").origin is Origin.GITHUB_RUNNER


@pytest.mark.parametrize("reference", ["nvidia/cuda", "nvidia/cuda:latest", "pytorch/pytorch:latest"])
def test_nvidia_and_pytorch_images_need_a_versioned_tag(reference: str) -> None:
    with pytest.raises(UnknownName):
        container_image(reference)


def test_a_newer_point_release_supersedes_an_image() -> None:
    assert superseded(container_image("nvidia/cuda:12.9.1-base-ubuntu24.04"))
    assert not superseded(container_image("nvidia/cuda:12.9.2-base-ubuntu24.04"))
    assert not superseded(container_image("ghcr.io/actions/actions-runner:2.335.0"))


def test_the_last_driver_branch_of_its_generation_ends_the_life_of_an_image() -> None:
    assert end_of_life(container_image("nvidia/cuda:12.9.2-base-ubuntu24.04")) == date(2026, 6, 30)
    assert end_of_life(container_image("nvidia/cuda:13.0.3-base-ubuntu24.04")) == date(2028, 6, 30)
    assert end_of_life(container_image("pytorch/pytorch:2.14.0-cuda12.6-cudnn9-runtime")) is None


def test_tags_are_deleted_six_months_after_the_end_of_life() -> None:
    assert deleted_from(date(2026, 6, 30)) == date(2026, 12, 30)
    assert deleted_from(date(2026, 8, 31)) == date(2027, 2, 28)
    assert deleted_from(date(2026, 1, 15)) == date(2026, 7, 15)


def test_the_newest_point_release_keeps_registry_flavour_and_system() -> None:
    newest = newest_of(container_image(f"nvcr.io/nvidia/cuda:13.0.0-cudnn-devel-ubuntu22.04@{DIGEST}"))

    assert newest is not None
    assert newest.reference == "nvcr.io/nvidia/cuda:13.0.3-cudnn-devel-ubuntu22.04"
    assert newest_of(container_image("ghcr.io/actions/actions-runner:2.335.0")) is None


@given(st.text(max_size=60))
def test_any_text_is_read_or_is_an_unknown_name(text: str) -> None:
    with suppress(UnknownName):
        found = container_image(text)

        assert found.reference == text
