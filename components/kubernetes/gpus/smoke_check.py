"""The program of a smoke test: it proves that a machine has its GPUs and that PyTorch computes on them.

It runs with `python3 -c` in a container, and as a file on a machine, so it imports nothing of this project. The exit
code names the first step that failed.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from typing import Any, Final

DRIVER, COUNT, CUDA, PRODUCT = 10, 11, 12, 13
"""Exit codes: no driver, another number of GPUs, no CUDA in PyTorch, a wrong product."""
WARNING: Final = 14
"""The exit code of nvidia-smi for a corrupted infoROM, with which a GPU computes (nvidia-smi(1), "RETURN VALUE")."""
SIZE: Final = 512
QUERY: Final = "nvidia-smi --query-gpu=index,name,driver_version,memory.total --format=csv,noheader"


def main() -> int:
    """Run the steps, print each result, and return the exit code."""
    expected = int(os.environ.get("GPU_CI_GPUS", "1"))
    try:
        done = subprocess.run(QUERY.split(), capture_output=True, text=True, check=False, timeout=120)
    except FileNotFoundError:
        return _failed(DRIVER, "nvidia-smi is not in the container: no GPU is assigned, or the runtime is not NVIDIA's")
    except subprocess.TimeoutExpired:
        return _failed(DRIVER, "nvidia-smi does not end: the driver does not answer; replace the machine")
    if done.returncode not in {0, WARNING}:
        message = " ".join((done.stdout + done.stderr).split()) or f"exit code {done.returncode}"
        return _failed(DRIVER, f"nvidia-smi failed: {message}")
    lines = (done.stdout + done.stderr).strip().splitlines()
    for line in lines:
        _say(f"nvidia-smi: {line}")
    # Only the line of a GPU ends in its memory.
    found = sum(line.endswith(" MiB") for line in lines)
    if found != expected:
        return _failed(COUNT, f"nvidia-smi shows {found} GPUs instead of {expected}")
    return _product(expected)


def _product(expected: int) -> int:
    """Multiply matrices on every GPU and compare the result with that of the CPU."""
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError as missing:
        return _failed(CUDA, f"PyTorch cannot be imported ({missing}); use an image with PyTorch")
    built = torch.version.cuda
    if not torch.cuda.is_available():
        return _failed(CUDA, f"PyTorch {torch.__version__} for CUDA {built} finds no GPU: compare it with the driver")
    if torch.cuda.device_count() != expected:
        return _failed(COUNT, f"PyTorch finds {torch.cuda.device_count()} GPUs instead of {expected}")
    for index in range(expected):
        # The product of small whole numbers is exact in every precision.
        numbers = torch.randint(0, 8, (SIZE, SIZE)).float()
        try:
            same = torch.equal((numbers.to(f"cuda:{index}") @ numbers.to(f"cuda:{index}")).cpu(), numbers @ numbers)
        except RuntimeError as failed:
            return _failed(PRODUCT, f"GPU {index} cannot compute: {' '.join(str(failed).split())}")
        if not same:
            return _failed(PRODUCT, f"GPU {index} computes a wrong product: replace the machine")
        _say(f"product: GPU {index}, {torch.cuda.get_device_name(index)}, is correct")
    _say(f"passed: {expected} GPUs with PyTorch {torch.__version__} for CUDA {built}")
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _failed(code: int, message: str) -> int:
    _say(f"failed: {message}")
    return code


if __name__ == "__main__":
    sys.exit(main())
