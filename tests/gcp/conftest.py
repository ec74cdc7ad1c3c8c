"""The engine's tests of this area use the same CLI as the others, and are skipped for the same reason."""

from __future__ import annotations

from tests.engine.conftest import cli

__all__ = ["cli"]
