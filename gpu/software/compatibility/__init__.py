"""Whether GPU, driver, CUDA, container image and frameworks go together: solved before anything is built."""

from __future__ import annotations

from gpu.software.compatibility.case import Ask
from gpu.software.compatibility.solver import CHECK, conflicts, solve

__all__ = ["CHECK", "Ask", "conflicts", "solve"]
