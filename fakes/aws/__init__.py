"""The fake AWS: one table for each service."""

from __future__ import annotations

from typing import Final

from fakes.aws import ecr, eks, identity, machines, network, security, state

_TABLES: Final = (network, security, eks, identity, machines, ecr, state)
TABLE: Final = tuple(kind for table in _TABLES for kind in table.TABLE)
