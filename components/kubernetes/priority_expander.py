"""Priorities for the Cluster Autoscaler's priority expander: Spot pools before on-demand pools.

The autoscaler (`expander/priority/priority.go`, 1.35) gives a group the highest priority of which a pattern matches the
name of its Auto Scaling group, and scales up a group of the highest priority. EKS names an Auto Scaling group
`eks-<node group>-<uuid>`. A node group that is created with a name prefix ends in 26 hexadecimal digits, which
distinguish a pool from another pool whose name continues with a hyphen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

SPOT_PRIORITY: Final = 50
ON_DEMAND_PRIORITY: Final = 20
OTHER_PRIORITY: Final = 1
"""The priority of other groups. Without one, the autoscaler would never scale them up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A pool and its capacity type."""

    name: str
    """The pool's name, which is the prefix of its node group's name."""
    spot: bool
    """Whether its nodes are spot instances."""

    @property
    def pattern(self) -> str:
        """Return the pattern that matches the name of its Auto Scaling group and no other."""
        return f"^eks-{self.name}-[0-9a-f]{{26}}-"


def priorities(groups: Iterable[Group]) -> dict[int, tuple[str, ...]]:
    """Return the patterns by priority: Spot, then on-demand, then everything else."""
    found: dict[int, tuple[str, ...]] = {}
    for group in sorted(groups, key=lambda each: (not each.spot, each.name)):
        priority = SPOT_PRIORITY if group.spot else ON_DEMAND_PRIORITY
        found[priority] = (*found.get(priority, ()), group.pattern)
    return {**found, OTHER_PRIORITY: (".*",)}
