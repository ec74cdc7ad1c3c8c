"""The values of the Cluster Autoscaler's chart. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from components.kubernetes.priority_expander import Group, priorities

NAMESPACE = "kube-system"
SERVICE_ACCOUNT = "cluster-autoscaler"
RESOURCES = {"requests": {"cpu": "100m", "memory": "300Mi"}, "limits": {"memory": "600Mi"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoscalerValues:
    """The configuration of the autoscaler."""

    region: str
    image_tag: str
    """A version of the cluster's minor version."""
    expander: Sequence[str]
    """The expanders that choose a pool, in order."""
    scale_down_after_minutes: int
    """Minutes for which a node is idle before it is removed."""
    provision_timeout_minutes: int
    """Minutes after which a node that did not join counts as failed."""
    capacities: Mapping[str, Literal["spot", "on-demand"]]
    """Pool to its capacity type, which determines the order in which pools are tried."""


def autoscaler_values(args: AutoscalerValues, cluster_name: Any) -> dict[str, Any]:
    """Return the chart's values. `cluster_name` may be an output; without it the chart renders nothing."""
    values: dict[str, Any] = {
        "cloudProvider": "aws",
        "awsRegion": args.region,
        "autoDiscovery": {"clusterName": cluster_name},
        "fullnameOverride": SERVICE_ACCOUNT,
        "image": {"tag": args.image_tag},
        "rbac": {"serviceAccount": {"create": True, "name": SERVICE_ACCOUNT}},
        "nodeSelector": {"role": "system"},
        "resources": RESOURCES,
        "extraArgs": {
            "expander": ",".join(args.expander),
            "scale-down-unneeded-time": f"{args.scale_down_after_minutes}m",
            "scale-down-delay-after-add": f"{args.scale_down_after_minutes}m",
            "max-node-provision-time": f"{args.provision_timeout_minutes}m",
            # A runner's work directory is local storage, and most pods of a GPU node are system pods. By default
            # either prevents the removal of a node.
            "skip-nodes-with-local-storage": False,
            "skip-nodes-with-system-pods": False,
        },
    }
    if "priority" in args.expander:
        groups = [Group(name=pool, spot=capacity == "spot") for pool, capacity in args.capacities.items()]
        values["expanderPriorities"] = {str(rank): list(names) for rank, names in priorities(groups).items()}
    return values
