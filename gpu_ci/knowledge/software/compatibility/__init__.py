"""Compatibility of GPU, driver, CUDA, container image and frameworks, solved from the tables of `gpu.software`."""

from __future__ import annotations

from gpu.software.compatibility.query import Finding, Query
from gpu.software.compatibility.solver import explain, findings

__all__ = ["Finding", "Query", "explain", "findings"]
