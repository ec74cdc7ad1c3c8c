"""The program of a smoke test, with a stub of `nvidia-smi` on PATH and of PyTorch."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from components.kubernetes.gpus import smoke_check
from components.kubernetes.gpus.smoke_job import PROGRAM
from tests.artefacts.callers import run_as_called

pytestmark = pytest.mark.pure

SMOKE: Final = "components/kubernetes/gpus/smoke_check.py"

TORCH: Final = """
import os

__version__ = "2.13.0"


class version:
    cuda = "13.0"


class Matrix:
    def __init__(self, value, device="cpu"):
        self.value, self.device = value, device

    def float(self):
        return self

    def to(self, device):
        return Matrix(self.value, device)

    def cpu(self):
        return Matrix(self.value)

    def __matmul__(self, other):
        if self.device != "cpu" and os.environ.get("TORCH") == "no kernel":
            raise RuntimeError("CUDA error: no kernel image is available\\nfor execution on the device")
        wrong = self.device == os.environ.get("WRONG")
        return Matrix(self.value * other.value + wrong, self.device)


def randint(low, high, size):
    return Matrix(high - 1)


def equal(one, other):
    return one.value == other.value


class cuda:
    @staticmethod
    def is_available():
        return os.environ.get("TORCH") != "no cuda"

    @staticmethod
    def device_count():
        return int(os.environ.get("DEVICES", os.environ["GPU_CI_GPUS"]))

    @staticmethod
    def get_device_name(index):
        return "Tesla T4"
"""
T4: Final = "0, Tesla T4, 580.95.05, 15360 MiB"


def run(
    folder: Path, smi: str | None, gpus: int = 1, *, torch: bool = True, environment: Mapping[str, str] | None = None
) -> tuple[int, list[str]]:
    """Run the program as the Job does; `smi` is the body of `nvidia-smi`, None for no such command."""
    if smi is not None:
        stub = folder / "nvidia-smi"
        stub.write_text(f"#!/bin/sh\n{smi}\n")
        stub.chmod(0o755)
    if torch:
        (folder / "torch.py").write_text(TORCH)
    (folder / "python3").symlink_to(sys.executable)
    variables = {"PATH": f"{folder}:/usr/bin:/bin", "GPU_CI_GPUS": str(gpus), "PYTHONPATH": str(folder)}
    text = PROGRAM.read_text(encoding="utf-8")
    done = run_as_called(SMOKE, text, world=folder, environment=variables | dict(environment or {}))
    assert "Traceback" not in done.err
    return done.code, done.out.splitlines()


def test_a_working_gpu_passes_with_its_name_and_driver(tmp_path: Path) -> None:
    assert run(tmp_path, f"echo '{T4}'") == (
        0,
        [
            f"nvidia-smi: {T4}",
            "product: GPU 0, Tesla T4, is correct",
            "passed: 1 GPUs with PyTorch 2.13.0 for CUDA 13.0",
        ],
    )


@pytest.mark.parametrize(
    ("smi", "environment", "code", "message"),
    [
        (None, {}, smoke_check.DRIVER, "nvidia-smi is not in the container"),
        (
            "echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18",
            {},
            smoke_check.DRIVER,
            "nvidia-smi failed: Failed to initialize NVML: Driver/library version mismatch",
        ),
        ("exit 9", {}, smoke_check.DRIVER, "nvidia-smi failed: exit code 9"),
        (":", {}, smoke_check.COUNT, "nvidia-smi shows 0 GPUs instead of 1"),
        (f"echo '{T4}'", {"TORCH": "no cuda"}, smoke_check.CUDA, "PyTorch 2.13.0 for CUDA 13.0 finds no GPU"),
        (f"echo '{T4}'", {"DEVICES": "0"}, smoke_check.COUNT, "PyTorch finds 0 GPUs instead of 1"),
        (
            f"echo '{T4}'",
            {"TORCH": "no kernel"},
            smoke_check.PRODUCT,
            "GPU 0 cannot compute: CUDA error: no kernel image",
        ),
        (f"echo '{T4}'", {"WRONG": "cuda:0"}, smoke_check.PRODUCT, "GPU 0 computes a wrong product"),
    ],
)
def test_each_fault_has_its_exit_code_and_a_message(
    smi: str | None, environment: dict[str, str], code: int, message: str, tmp_path: Path
) -> None:
    ended, lines = run(tmp_path, smi, environment=environment)

    assert ended == code
    assert lines[-1].startswith(f"failed: {message}")


def test_every_gpu_is_tested(tmp_path: Path) -> None:
    code, lines = run(tmp_path, f"echo '{T4}'; echo '{T4}'", 2, environment={"WRONG": "cuda:1"})

    assert code == smoke_check.PRODUCT
    assert lines[-2:] == [
        "product: GPU 0, Tesla T4, is correct",
        "failed: GPU 1 computes a wrong product: replace the machine",
    ]


def test_an_image_without_pytorch_is_a_fault_of_the_image(tmp_path: Path) -> None:
    blocked = tmp_path / "torch.py"
    blocked.write_text('raise ModuleNotFoundError("No module named \'torch\'", name="torch")\n')
    code, lines = run(tmp_path, f"echo '{T4}'", torch=False)

    assert code == smoke_check.CUDA
    assert lines[-1] == "failed: PyTorch cannot be imported (No module named 'torch'); use an image with PyTorch"
