"""The fake AWS: one table for each service."""

from __future__ import annotations

from typing import Final

from fakes.aws import ecr, eks, identity, network

TABLE: Final = (*network.TABLE, *eks.TABLE, *identity.TABLE, *ecr.TABLE)
