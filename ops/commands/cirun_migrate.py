"""Rewrite an old cirun file to today's form, and say what changed."""

from __future__ import annotations

from ops.cirun_migrate import cirun_migrate as main

__all__ = ["main"]
