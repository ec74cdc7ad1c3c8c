"""The base image of the GPU test container: a tag of NVIDIA, or a copy in another registry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from gpu_ci.back_ends.stack_file import settings_of
from gpu_ci.knowledge.software.image_tags import cuda_base
from gpu_ci.repository.image_workflow import IMAGE_FILE
from ops.kit.stack import files
from ops.plan.recorder import record
from ops.plan.stack_file import read
from tests.mistakes.saying import write
from tests.mistakes.sound import IDENTITY

pytestmark = pytest.mark.plan

DIGEST = f"sha256:{'0' * 64}"
TAG = "13.0.3-base-ubuntu24.04"
OTHER = f"europe-docker.pkg.dev/project/mirror/cuda:{TAG}@{DIGEST}"
COPY = f"us-central1-docker.pkg.dev/project/gpu-tests/cuda:{TAG}@{DIGEST}"


@pytest.mark.parametrize(
    ("stated", "base"),
    [
        (TAG, f"nvidia/cuda:{TAG}"),
        (f"{TAG}@{DIGEST}", f"nvidia/cuda:{TAG}@{DIGEST}"),
        (f"nvcr.io/nvidia/cuda:{TAG}", f"nvcr.io/nvidia/cuda:{TAG}"),
        (COPY, COPY),
        (OTHER, OTHER),
        (f"localhost:5000/mirror_1/cuda:{TAG}@{DIGEST}", f"localhost:5000/mirror_1/cuda:{TAG}@{DIGEST}"),
    ],
)
def test_the_workflow_has_the_stated_base_image(tmp_path: Path, stated: str, base: str) -> None:
    file = read(write({"test-image": {"cuda-image": stated}}, tmp_path))
    written = files(settings_of(file.config, file.secret_keys, file.name, "a stack"), IDENTITY)
    steps = yaml.safe_load(written[IMAGE_FILE])["jobs"]["build"]["steps"]

    assert cuda_base(stated) == base
    assert [step["with"]["build-args"] for step in steps if "build-args" in step.get("with", {})] == [
        f"CUDA_IMAGE={base}"
    ]
    hosts = "us-central1-docker.pkg.dev" + ",europe-docker.pkg.dev" * (stated == OTHER)
    assert f"run: gcloud auth configure-docker {hosts} --quiet\n" in written[IMAGE_FILE]


@pytest.mark.parametrize(("stated", "base"), [(TAG, f"nvidia/cuda:{TAG}"), (COPY, COPY)])
def test_the_stack_builds_on_the_same_base(tmp_path: Path, stated: str, base: str) -> None:
    plan = record(read(write({"test-image": {"built-by": "stack", "cuda-image": stated}}, tmp_path)))

    assert [one.inputs["buildArgs"] for one in plan if one.type == "docker-build:index:Image"] == [{"CUDA_IMAGE": base}]


OPTIONS = {"name": "vision-gpu", "packages": ["ffmpeg", "g++"], "pythons": ["3.13", "3.14"]}
ARGUMENTS = {"CUDA_IMAGE": f"nvidia/cuda:{TAG}", "PACKAGES": "ffmpeg g++", "PYTHONS": "3.13 3.14"}


def test_name_packages_and_pythons_come_from_the_stack_file(tmp_path: Path) -> None:
    file = read(write({"test-image": OPTIONS}, tmp_path))
    written = files(settings_of(file.config, file.secret_keys, file.name, "a stack"), IDENTITY)
    (build,) = [step["with"] for step in steps_of(written) if "build-args" in step.get("with", {})]

    assert build["build-args"].splitlines() == [f"{name}={value}" for name, value in ARGUMENTS.items()]
    assert build["tags"] == "us-central1-docker.pkg.dev/gpu-test-runners/gpu-tests/vision-gpu:2026.11.1"


def test_the_stack_builds_with_the_same_options(tmp_path: Path) -> None:
    plan = record(read(write({"test-image": {"built-by": "stack", **OPTIONS}}, tmp_path)))
    (image,) = [one for one in plan if one.type == "docker-build:index:Image"]

    assert image.inputs["buildArgs"] == ARGUMENTS


def steps_of(written: dict[str, str]) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = yaml.safe_load(written[IMAGE_FILE])["jobs"]["build"]["steps"]
    return steps
