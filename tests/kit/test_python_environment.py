"""The environment of micromamba: libraries that agree with the CUDA version of the runner."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from gpu_ci.knowledge.software.cuda import FLOORS
from gpu_ci.knowledge.software.frameworks import onnxruntime, torch
from gpu_ci.repository.python_environment import ENVIRONMENT_FILE, environment_file
from tests.kit.options import files
from tests.stack_file import stacks

pytestmark = pytest.mark.pure


def packages(**stated: Any) -> tuple[list[str], list[str]]:
    """Return the packages of conda-forge and those of pip."""
    found = yaml.safe_load(environment_file(**{"python": "3.12", "cuda": "12.9", **stated}))
    assert (found["name"], found["channels"]) == ("gpu-tests", ["conda-forge", "nodefaults"])
    *conda, pip = found["dependencies"]
    return conda, pip["pip"]


def test_the_environment_has_the_newest_libraries_for_its_cuda() -> None:
    conda, pip = packages()

    assert conda == ["python=3.12", "pip", "pytest", "pytest-cov", "pytest-xdist"]
    assert pip == [
        "--extra-index-url https://download.pytorch.org/whl/cu126",
        "torch==2.14.1+cu126",
        "onnxruntime-gpu==1.26.*",
        "transformers>=4.56.1,<5",
        "tokenizers>=0.22,<0.23",
    ]


@pytest.mark.parametrize("cuda", ["12.1", "12.6", "12.8", "12.9", "13.0", "13.2", "13.4"])
def test_the_libraries_have_the_major_version_of_cuda(cuda: str) -> None:
    _, (index, pytorch, ort, *_) = packages(cuda=cuda)
    build = torch(pytorch.removeprefix("torch=="))
    major, minor = map(int, cuda.split("."))

    assert build.cuda[0] == major in FLOORS
    assert build.cuda <= (major, minor)
    assert index.endswith(f"/{build.variant}")
    assert onnxruntime(ort.removeprefix("onnxruntime-gpu==").removesuffix(".*")).cuda == major


@pytest.mark.parametrize(
    ("stated", "pinned"),
    [("2.8.0", "torch==2.8.0+cu129"), ("2.9.1", "torch==2.9.1+cu128"), ("2.9.1+cu126", "torch==2.9.1+cu126")],
)
def test_stated_versions_are_kept(stated: str, pinned: str) -> None:
    _, pip = packages(torch_version=stated, onnxruntime="1.23.2")

    assert pinned in pip
    assert "onnxruntime-gpu==1.23.2" in pip


def test_the_versions_come_from_the_needs_of_the_runner() -> None:
    raw = {"runner": "gpu-vm", "tool": "micromamba"}
    written = files("examples/vm-aws.yaml", raw) or {}

    assert "torch==2.14.1+cu126" in written[ENVIRONMENT_FILE]
    assert "the libraries of CUDA 12.6, which the\n# driver of a machine with CUDA 12.9" in written[ENVIRONMENT_FILE]
    assert "environment-file: .github/gpu-tests/environment.yml" in written[".github/workflows/gpu-tests.yml"]


def test_a_matrix_of_python_leaves_the_version_to_the_workflow() -> None:
    raw = {"tool": "micromamba", "matrix": {"python": ["3.12", "3.13"]}}
    written = files(stacks.AWS, raw) or {}

    assert "python=" not in written[ENVIRONMENT_FILE]
    assert "create-args: python=${{ matrix.python }}" in written[".github/workflows/gpu-tests.yml"]
