"""What a GPU must answer before any test of a project is worth its time. A missing GPU fails; it never skips.

Set by the environment: EXPECTED_GPUS (1), EXPECTED_GPU_NAME (any), MINIMUM_COMPUTE (7.0), PROJECT_PYTHON (the
interpreter of the project's environment), REQUIRE_TORCH (1 where a project without torch is a fault).
"""

# ruff: noqa: INP001, S101 - runs in a container of its own, where it is no package and these are its commands

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
    # The query fails on a driver that has crashed; the plain table does not always.
    command = ["nvidia-smi", f"--query-gpu={QUERY}", "--format=csv,noheader,nounits"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return [[cell.strip() for cell in line.split(",")] for line in answer.stdout.splitlines()]


def test_every_gpu_that_was_asked_for_answers() -> None:
    assert len(gpus()) == int(os.environ.get("EXPECTED_GPUS", "1"))


def test_every_gpu_is_of_the_model_that_was_asked_for() -> None:
    expected = os.environ.get("EXPECTED_GPU_NAME")

    assert [name for name, *_ in gpus() if expected and name != expected] == []


def test_every_gpu_has_memory_and_can_run_todays_libraries() -> None:
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
