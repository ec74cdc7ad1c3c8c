"""What the reference of a container image promises, and how long its tag is kept."""

from __future__ import annotations

from contextlib import suppress
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu.image_tags import FLAVOURS, OPERATING_SYSTEMS, Origin, container_image, deleted_from, ends, superseded
from gpu.nearest import UnknownName

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
def test_other_images_promise_no_cuda(reference: str, origin: Origin) -> None:
    found = container_image(reference)

    assert (found.origin, found.cuda, found.torch) == (origin, None, None)


def test_a_digest_is_kept() -> None:
    assert container_image(f"nvidia/cuda:12.9.2-base-ubuntu24.04@{DIGEST}").digest == DIGEST


@pytest.mark.parametrize(
    ("reference", "near"),
    [
        ("nvidia/cuda:12.9.9-base-ubuntu24.04", "12.9.2"),
        ("nvidia/cuda:12.7.0-base-ubuntu24.04", "12.6"),
        ("nvidia/cuda:12.9.1-runtme-ubuntu24.04", "runtime"),
        ("nvidia/cuda:12.9.1-runtime-ubuntu24.05", "ubuntu24.04"),
        ("nvidia/cuda:12.9.1-cudn-runtime-ubuntu24.04", "12.9.2-cudnn-runtime-ubuntu24.04"),
        ("pytorch/pytorch:2.15.0-cuda12.6-cudnn9-runtime", "13.0"),
        ("pytorch/pytorch:2.99.0-cuda13.0-cudnn9-runtime", "2.15"),
    ],
)
def test_a_tag_that_never_was_names_the_nearest_one(reference: str, near: str) -> None:
    with pytest.raises(UnknownName) as fault:
        container_image(reference)

    assert fault.value.nearest == near


@pytest.mark.parametrize(
    "reference", ["nvidia/cuda", "nvidia/cuda:latest", f"nvidia/cuda@{DIGEST}", "pytorch/pytorch:latest"]
)
def test_an_image_whose_tag_says_nothing_is_refused_where_tags_say_something(reference: str) -> None:
    with pytest.raises(UnknownName):
        container_image(reference)


def test_a_newer_point_release_ends_an_image() -> None:
    assert superseded(container_image("nvidia/cuda:12.9.1-base-ubuntu24.04"))
    assert not superseded(container_image("nvidia/cuda:12.9.2-base-ubuntu24.04"))
    assert not superseded(container_image("ghcr.io/actions/actions-runner:2.335.0"))


def test_an_image_ends_with_the_last_driver_branch_of_its_generation() -> None:
    assert ends(container_image("nvidia/cuda:12.9.2-base-ubuntu24.04")) == date(2026, 6, 30)
    assert ends(container_image("nvidia/cuda:13.0.3-base-ubuntu24.04")) == date(2028, 6, 30)
    assert ends(container_image("pytorch/pytorch:2.14.0-cuda12.6-cudnn9-runtime")) is None


def test_tags_are_deleted_six_months_after_the_end() -> None:
    assert deleted_from(date(2026, 6, 30)) == date(2026, 12, 30)
    assert deleted_from(date(2026, 8, 31)) == date(2027, 2, 28)
    assert deleted_from(date(2026, 1, 15)) == date(2026, 7, 15)


@given(st.sampled_from(OPERATING_SYSTEMS), st.sampled_from(FLAVOURS), st.sampled_from(["", "-cudnn", "-cudnn8"]))
def test_every_well_formed_tag_is_read_whole(system: str, flavour: str, cudnn: str) -> None:
    found = container_image(f"nvidia/cuda:12.9.2{cudnn}-{flavour}-{system}")

    assert found.point == "12.9.2"


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_by_name(text: str) -> None:
    with suppress(UnknownName):
        found = container_image(text)

        assert found.reference == text
