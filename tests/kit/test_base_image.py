"""The base image of the GPU test container: a tag of NVIDIA, or a copy in another registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from config.load import settings_of
from gpu.software.image_tags import cuda_base
from kit.image_workflow import IMAGE_FILE
from kit.stack import files
from ops.plan.recorder import record
from ops.plan.stack_file import read
from tests.mistakes.saying import write
from tests.mistakes.sound import IDENTITY

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.plan

DIGEST = f"sha256:{'0' * 64}"
TAG = "13.0.3-base-ubuntu24.04"
COPY = f"us-central1-docker.pkg.dev/project/gpu-tests/cuda:{TAG}@{DIGEST}"


@pytest.mark.parametrize(
    ("stated", "base"),
    [
        (TAG, f"nvidia/cuda:{TAG}"),
        (f"{TAG}@{DIGEST}", f"nvidia/cuda:{TAG}@{DIGEST}"),
        (f"nvcr.io/nvidia/cuda:{TAG}", f"nvcr.io/nvidia/cuda:{TAG}"),
        (COPY, COPY),
        (f"localhost:5000/mirror_1/cuda:{TAG}@{DIGEST}", f"localhost:5000/mirror_1/cuda:{TAG}@{DIGEST}"),
    ],
)
def test_a_base_image_comes_into_the_workflow_as_it_is_stated(tmp_path: Path, stated: str, base: str) -> None:
    file = read(write({"test-image": {"cuda-image": stated}}, tmp_path))
    written = files(settings_of(file.config, file.secret_keys, file.name, "a stack"), IDENTITY)
    steps = yaml.safe_load(written[IMAGE_FILE])["jobs"]["build"]["steps"]

    assert cuda_base(stated) == base
    assert [step["with"]["build-args"] for step in steps if "build-args" in step.get("with", {})] == [
        f"CUDA_IMAGE={base}"
    ]


@pytest.mark.parametrize(("stated", "base"), [(TAG, f"nvidia/cuda:{TAG}"), (COPY, COPY)])
def test_the_stack_builds_on_the_same_base(tmp_path: Path, stated: str, base: str) -> None:
    plan = record(read(write({"test-image": {"built-by": "stack", "cuda-image": stated}}, tmp_path)))

    assert [one.inputs["buildArgs"] for one in plan if one.type == "docker-build:index:Image"] == [{"CUDA_IMAGE": base}]
