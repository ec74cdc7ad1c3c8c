"""The fake AWS: one table for each service."""

from __future__ import annotations

from typing import Final

from ops.fakes.aws import ecr, eks, identity, image_builder, machines, network, security, state, watch

_TABLES: Final = (network, security, eks, identity, machines, watch, ecr, image_builder, state)
TABLE: Final = tuple(kind for table in _TABLES for kind in table.TABLE)
