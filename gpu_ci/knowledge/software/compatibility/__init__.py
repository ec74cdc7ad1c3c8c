"""Compatibility of GPU, driver, CUDA, container image and frameworks, solved from dated tables."""

from __future__ import annotations

from gpu_ci.knowledge.software.compatibility.query import Finding, Query
from gpu_ci.knowledge.software.compatibility.solver import explain, findings

__all__ = ["Finding", "Query", "explain", "findings"]
