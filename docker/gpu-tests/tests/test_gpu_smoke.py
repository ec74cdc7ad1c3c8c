"""Checks of the GPU before the tests of a project. A missing GPU is a failure, never a skipped test.

Environment variables: EXPECTED_GPUS (1), EXPECTED_GPU_NAME (any), MINIMUM_COMPUTE (7.0), PROJECT_PYTHON (the
interpreter in the project's environment), REQUIRE_TORCH (1: a project without torch fails).
"""

# ruff: noqa: INP001, S101 - runs in a container, where it is not a package, and asserts are its checks

from __future__ import annotations

import json
import os
import subprocess

import pytest

QUERY = "name,driver_version,memory.total,compute_cap"
TORCH = """
import importlib.util, json
if importlib.util.find_spec("torch") is None:
    print("null")
else:
    import torch
    assert torch.cuda.is_available(), "torch sees no CUDA device; its build is for CUDA " + str(torch.version.cuda)
    ones = torch.ones(512, 512, device="cuda")
    print(json.dumps([torch.cuda.device_count(), (ones @ ones).sum().item()]))
"""


def gpus() -> list[list[str]]:
    # The query fails on a driver that has crashed. The plain table may succeed.
    command = ["nvidia-smi", f"--query-gpu={QUERY}", "--format=csv,noheader,nounits"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    # 14 is a warning that the infoROM is corrupted, with which a GPU computes. A warning has another number of cells.
    assert answer.returncode in {0, 14}, answer.stdout + answer.stderr
    lines = [[cell.strip() for cell in line.split(",")] for line in answer.stdout.splitlines()]
    return [cells for cells in lines if len(cells) == QUERY.count(",") + 1]


def test_every_expected_gpu_responds() -> None:
    assert len(gpus()) == int(os.environ.get("EXPECTED_GPUS", "1"))


def test_every_gpu_is_the_expected_model() -> None:
    expected = os.environ.get("EXPECTED_GPU_NAME")

    assert [name for name, *_ in gpus() if expected and name != expected] == []


def test_every_gpu_has_memory_and_the_minimum_compute_capability() -> None:
    least = float(os.environ.get("MINIMUM_COMPUTE", "7.0"))

    assert [gpu for gpu in gpus() if int(gpu[2]) < 1024 or float(gpu[3]) < least] == []


@pytest.mark.project
def test_torch_computes_on_every_gpu() -> None:
    answer = subprocess.run(
        [os.environ["PROJECT_PYTHON"], "-c", TORCH], capture_output=True, text=True, check=False, timeout=600
    )
    assert answer.returncode == 0, answer.stderr
    seen = json.loads(answer.stdout)
    if seen is None and os.environ.get("REQUIRE_TORCH") != "1":
        pytest.skip("the project has no torch")

    assert seen == [len(gpus()), 512.0**3]
