"""The fake AWS: one table for each service."""

from __future__ import annotations

from typing import Final

from fakes.aws import ecr, eks, identity, machines, network, security

TABLE: Final = (*network.TABLE, *security.TABLE, *eks.TABLE, *identity.TABLE, *machines.TABLE, *ecr.TABLE)
