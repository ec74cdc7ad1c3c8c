"""The values of the Cluster Autoscaler's chart. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAMESPACE = "kube-system"
SERVICE_ACCOUNT = "cluster-autoscaler"
SPOT_FIRST = {"spot": 50, "on-demand": 20}
"""Which capacity is tried first; the higher figure wins."""
_ENDING = "[0-9a-f]{26}-[0-9a-f-]{36}"
"""How a group's name goes on after the pool's: with what makes a node group's name from its prefix, then with a UUID
that EKS adds. Both have one length, so that a pool is never taken for another whose name it begins, as `t4-spot` for
`t4-spot-2`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoscalerValues:
    """What the chart is told."""

    region: str
    image_tag: str
    """Of the cluster's own minor version."""
    expander: Sequence[str]
    scale_down_after_minutes: int
    provision_timeout_minutes: int
    capacities: Mapping[str, Literal["spot", "on-demand"]]
    """Pool to its capacity, for the order in which pools are tried."""


def autoscaler_values(args: AutoscalerValues, cluster_name: Any) -> dict[str, Any]:
    """The chart's values; `cluster_name` may be an output, without which the chart renders nothing at all."""
    values: dict[str, Any] = {
        "cloudProvider": "aws",
        "awsRegion": args.region,
        "autoDiscovery": {"clusterName": cluster_name},
        "fullnameOverride": SERVICE_ACCOUNT,
        "image": {"tag": args.image_tag},
        "rbac": {"serviceAccount": {"create": True, "name": SERVICE_ACCOUNT}},
        "nodeSelector": {"role": "system"},
        "resources": {"requests": {"cpu": "100m", "memory": "300Mi"}, "limits": {"memory": "600Mi"}},
        "extraArgs": {
            "expander": ",".join(args.expander),
            "scale-down-unneeded-time": f"{args.scale_down_after_minutes}m",
            "scale-down-delay-after-add": f"{args.scale_down_after_minutes}m",
            "max-node-provision-time": f"{args.provision_timeout_minutes}m",
            # A runner's work directory is local storage, and a GPU node carries little but daemons: by default
            # either would keep a node for ever.
            "skip-nodes-with-local-storage": False,
            "skip-nodes-with-system-pods": False,
        },
    }
    if "priority" in args.expander:
        values["expanderPriorities"] = priorities(args.capacities)
    return values


def priorities(capacities: Mapping[str, Literal["spot", "on-demand"]]) -> dict[str, list[str]]:
    """Priority to the groups that have it, as patterns of their names in EC2.

    A group that no pattern meets would never be scaled: hence the last one, which meets all.
    """
    found: dict[str, list[str]] = {}
    for pool, capacity in sorted(capacities.items()):
        found.setdefault(str(SPOT_FIRST[capacity]), []).append(f"^eks-{re.escape(pool)}-{_ENDING}$")
    return {**found, "1": [".*"]}
