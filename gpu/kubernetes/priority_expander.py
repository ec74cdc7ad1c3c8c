"""The order in which the Cluster Autoscaler tries groups: what to write for it, and what it makes of it.

Owns the content of the ConfigMap `cluster-autoscaler-priority-expander` and a port of how the autoscaler reads it
(`expander/priority/priority.go`, 1.35): each group of nodes has the highest priority of which a pattern is found in
the name of its auto-scaling group; the groups of the highest priority stay, and where no group has any, all stay.
EKS names an auto-scaling group `eks-<node group>-<uuid>`, and a node group made from a prefix ends in 26 hexadecimal
digits, by which a pool is told from one whose name goes on with a hyphen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

CONFIG_MAP = "cluster-autoscaler-priority-expander"
"""The name that the autoscaler looks for in its own namespace."""

SPOT_PRIORITY = 50
ON_DEMAND_PRIORITY = 20
OTHER_PRIORITY = 1
"""Of every group that has no pattern: without one it would be left out as soon as another group has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A pool as its nodes are bought."""

    name: str
    """The pool's name, which its node group's name begins with."""
    spot: bool

    @property
    def pattern(self) -> str:
        """What is found in the name of its auto-scaling group, and in that of no other."""
        return f"^eks-{self.name}-[0-9a-f]{{26}}-"


def priorities(groups: Iterable[Group]) -> dict[int, tuple[str, ...]]:
    """Patterns by priority, spot before on-demand before everything else."""
    found: dict[int, tuple[str, ...]] = {}
    for group in sorted(groups, key=lambda each: (not each.spot, each.name)):
        priority = SPOT_PRIORITY if group.spot else ON_DEMAND_PRIORITY
        found[priority] = (*found.get(priority, ()), group.pattern)
    return {**found, OTHER_PRIORITY: (".*",)}


def config_map(groups: Iterable[Group]) -> dict[str, str]:
    """The ConfigMap's data: one key, holding YAML."""
    lines: list[str] = []
    for priority, patterns in priorities(groups).items():
        lines.append(f"{priority}:")
        # Single quotes: YAML takes nothing in them for an escape but a doubled quote, and a pattern has none.
        lines += [f"  - '{pattern}'" for pattern in patterns]
    return {"priorities": "\n".join([*lines, ""])}


def best(written: Mapping[int, Sequence[str]], names: Sequence[str]) -> tuple[str, ...]:
    """The auto-scaling groups that the autoscaler would choose among, of those that could be enlarged."""
    ranks = {name: rank for name in names if (rank := _rank(written, name)) is not None}
    most = max(ranks.values(), default=None)
    return tuple(name for name in names if ranks.get(name) == most)


def _rank(written: Mapping[int, Sequence[str]], name: str) -> int | None:
    return max(
        (priority for priority, patterns in written.items() if any(_compiled(one).search(name) for one in patterns)),
        default=None,
    )


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
