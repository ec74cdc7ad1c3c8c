"""The fake Google Cloud: one table for each group of services."""

from __future__ import annotations

from typing import Final

from ops.fakes.gcp import resources, services, state

_TABLES: Final = (resources, services, state)
TABLE: Final = tuple(kind for table in _TABLES for kind in table.TABLE)
