"""Changes of a running cluster that EKS refuses in the middle of an update, or that end running nodes. Pure.

From the EKS API reference and user guide ("Managed node group update behavior"), and from the answers of EKS in
terraform-aws-eks issues 748 and 3306 (2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from components.update_guard import Update

_ROLLING: Final = {
    "version": "Kubernetes version",
    "releaseVersion": "image release",
    "launchTemplate.version": "launch template: image, disk or node configuration",
}
"""Inputs of a node group whose change makes EKS replace every node."""


def refused_sizes(update: Update) -> str | None:
    """Return the reason and the fix if EKS refuses the new sizes of a node group: it adjusts no desired size."""
    running = _running(update)
    # Numbers are floating-point in the engine's protocol.
    least, most = (int(_at(update.new_inputs, f"scalingConfig.{key}")) for key in ("minSize", "maxSize"))
    if least <= running <= most:
        return None
    arn, cluster, group = (update.old_outputs.get(key) for key in ("arn", "clusterName", "nodeGroupName"))
    command = (
        f"`aws eks update-nodegroup-config --region {str(arn).split(':')[3]} --cluster-name {cluster} "
        f"--nodegroup-name {group} --scaling-config minSize={least},maxSize={most},desiredSize={{}}`"
    )
    if least > running:
        order = command.format(least)
        return f"EKS refuses min {least} while {running} nodes run. Run {order}, and then `pulumi up` again"
    return (
        f"EKS refuses max {most} while {running} nodes run. Wait until the autoscaler has removed nodes, or end "
        f"{running - most} of them with their jobs: {command.format(most)}. Then run `pulumi up` again"
    )


def replaced_nodes(update: Update) -> str | None:
    """Return the consequence of an update that replaces every running node of a node group."""
    changed = [
        words for path, words in _ROLLING.items() if _at(update.old_inputs, path) != _at(update.new_inputs, path)
    ]
    running = _running(update)
    if not changed or not running:
        return None
    return (
        f"EKS replaces all {running} running nodes one after another ({', '.join(changed)}). It waits 15 minutes for "
        "the jobs on a node. If one runs longer, the update fails with PodEvictionFailure; run `pulumi up` again later"
    )


def refused_subnets(update: Update) -> str | None:
    """Return the reason and the fix if an update moves a control plane to other subnets."""
    before, after = (_at(inputs, "vpcConfig.subnetIds") for inputs in (update.old_inputs, update.new_inputs))
    if set(map(str, before or ())) == set(map(str, after or ())):
        return None
    return (
        "EKS cannot move a control plane to other zones or another network. Restore `cluster.zones`, `network.cidr` "
        "and the slots of these zones, or create a second stack"
    )


def _running(update: Update) -> int:
    return int(_at(update.old_outputs, "scalingConfig.desiredSize"))


def _at(values: Mapping[str, Any], path: str) -> Any:
    """Return the value at a path of one or two names; None if it is missing or unknown."""
    first, _, rest = path.partition(".")
    found = values.get(first)
    return found.get(rest) if rest and isinstance(found, Mapping) else found
