"""The running nodes of EKS node groups: the count that the autoscaler changes, and the nodes that an update ends.

Every node of a group with taints runs a job. From the EKS API reference, the user guide ("Managed node group update
behavior") and observed requests of the Terraform AWS provider 5.100 (2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ops.fakes.aws.names import NODE_GROUP
from ops.fakes.cloud.objects import CloudObject, Objects
from ops.fakes.cloud.paths import value_at

_DESIRED: Final = "scalingConfig.desiredSize"
_TEMPLATE: Final = "launchTemplate.version"
BUDGET: Final = "kubernetes:policy/v1:PodDisruptionBudget"


def running(group: CloudObject) -> int:
    """Return the number of nodes that run."""
    return int(value_at(_DESIRED, group.inputs) or 0)


def autoscale(cloud: Objects, group: str, count: int) -> None:
    """Set the number of nodes of a group, as the autoscaler does: no update of a stack knows of it."""
    found = cloud.find(NODE_GROUP, group)
    if found is None:
        raise LookupError(group)
    scaling = {**found.inputs["scalingConfig"], "desiredSize": count}
    found.inputs = {**found.inputs, "scalingConfig": scaling}
    found.outputs = {**found.outputs, "scalingConfig": scaling}


def sizes_are_in_order(_cloud: Objects, group: CloudObject) -> str | None:
    """Refuse a new group whose sizes contradict each other."""
    return _disorder(group.inputs)


def new_sizes_are_in_order(_cloud: Objects, _group: CloudObject, wanted: Mapping[str, Any]) -> str | None:
    """Refuse new sizes that contradict each other: EKS adjusts no desired size (terraform-aws-eks issue 3306)."""
    return _disorder(wanted)


def jobs_can_be_evicted(cloud: Objects, group: CloudObject, wanted: Mapping[str, Any]) -> str | None:
    """Refuse to replace a node whose job a disruption budget protects: EKS waits 15 minutes and does not force."""
    budgets = [obj for obj in cloud.of(BUDGET) if obj.phase == "ready"]
    if not replaces_nodes(group, wanted) or not group.inputs.get("taints") or not budgets:
        return None
    return (
        f"waiting for EKS Node Group ({group.id}) version update: unexpected state 'Failed', wanted target"
        " 'Successful'. last error: PodEvictionFailure: Reached max retries while trying to evict pods from nodes"
        " in node group"
    )


def replaces_nodes(group: CloudObject, wanted: Mapping[str, Any]) -> bool:
    """Return whether an update replaces running nodes."""
    return running(group) > 0 and any(
        value_at(path, group.inputs) != value_at(path, wanted) for path in ("version", "releaseVersion", _TEMPLATE)
    )


def _disorder(inputs: Mapping[str, Any]) -> str | None:
    least, wanted, most = (value_at(f"scalingConfig.{key}", inputs) for key in ("minSize", "desiredSize", "maxSize"))
    if None in (least, wanted, most) or least <= wanted <= most:
        return None
    if least > wanted:
        return f"InvalidParameterException: Minimum capacity {least} can't be greater than desired size {wanted}"
    return f"InvalidParameterException: desired capacity {wanted} can't be greater than max size {most}"


def end_nodes(cloud: Objects, group: CloudObject, wanted: Mapping[str, Any]) -> None:
    """Drain the nodes that an update replaces, or that are above its desired count, with the jobs on them."""
    surplus = running(group) - int(value_at(_DESIRED, wanted) or 0)
    if replaces_nodes(group, wanted):
        cloud.drained.append(f"all {running(group)} nodes of {group.name}: the update replaces them")
    elif surplus > 0:
        cloud.drained.append(f"{surplus} of {running(group)} nodes of {group.name}: the update sends a smaller count")
