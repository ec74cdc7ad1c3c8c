"""A stack with the offers of its back ends: what every check reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpu_ci.back_ends.offer import Offer
from gpu_ci.stack_file.identity import Identity
from gpu_ci.stack_file.sections.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """The settings of one stack, its identity, and what each runner is offered."""

    settings: Settings
    identity: Identity
    offers: Mapping[str, Offer]
    """Runner name to the offer of its back end."""

    @property
    def cluster_name(self) -> str:
        """The name of the EKS cluster: that of the existing one, or that of the stack."""
        cluster = self.settings.cluster
        return cluster.existing.name if cluster is not None and cluster.existing is not None else self.identity.prefix
