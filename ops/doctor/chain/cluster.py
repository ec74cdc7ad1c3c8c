"""Check that every node group exists in EKS, is healthy, and has the limits of the stack file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.doctor.chain.sections import cluster as applies
from ops.doctor.finding import broken, doubtful, works
from ops.doctor.questions import node_groups as eks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.kubernetes.node_group import NodeGroupFacts
    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "node-groups"
NEEDS: Final = ("eks-cluster",)

_BUSY: Final = ("CREATING", "UPDATING")
_FIXES: Final = {
    "AsgInstanceLaunchFailures": "read the check node-launches: it has the reason of EC2",
    "InstanceLimitExceeded": "request a larger quota; the check live-quota names it",
    "InsufficientFreeAddresses": "use more zones, or a larger network.cidr in a new stack",
    "Ec2SubnetInvalidConfiguration": "restore the subnet with `pulumi up --refresh`",
    "NodeCreationFailure": "look at the boot log of an instance; most often it cannot reach the cluster or its image",
    "AccessDenied": "restore the access of the node role with `pulumi up --refresh`",
    "Ec2LaunchTemplateNotFound": "restore the launch template with `pulumi up --refresh`",
    "Ec2LaunchTemplateVersionMismatch": "run `pulumi up`: someone changed the launch template",
    "IamNodeRoleNotFound": "restore the role with `pulumi up --refresh`",
    "ClusterUnreachable": "check the endpoint of the cluster and its security groups",
}
"""The fix of a health issue, by its code (EKS API reference, Issue, 2026)."""


def check(world: World) -> Iterator[Verdict]:
    """Yield missing, failed and changed node groups."""
    groups = eks.actual(world)
    for wanted in eks.declared(world.stack):
        found = eks.of(wanted, groups)
        if not found:
            yield broken(
                CHECK,
                wanted.path,
                seen="EKS has no node group for it",
                means="jobs that need it wait until GitHub gives them up",
                fix="run `pulumi up`",
            )
        for group in found:
            yield from _group(wanted, group)


def _group(wanted: NodeGroupFacts, group: eks.Group) -> Iterator[Verdict]:
    name, status = group["nodegroupName"], group["status"]
    faults = [*_health(wanted, group), *_drift(wanted, group)]
    if status in _BUSY:
        faults.append(
            doubtful(
                CHECK,
                wanted.path,
                seen=f"the status of {name} is {status}",
                means="EKS changes the nodes; a node that is replaced is drained first",
                fix="wait until the status is ACTIVE, and run the doctor again",
            )
        )
    elif status != "ACTIVE" and not faults:
        faults.append(
            broken(
                CHECK,
                wanted.path,
                seen=f"the status of {name} is {status}",
                means="EKS cannot start or replace nodes of this group",
                fix=f"read `aws eks describe-nodegroup --cluster-name {group['clusterName']} --nodegroup-name {name}`",
            )
        )
    yield from faults
    if not faults:
        size = group["scalingConfig"]
        yield works(
            CHECK,
            wanted.path,
            f"{name} is active with {size['desiredSize']} nodes, between {size['minSize']} and {size['maxSize']}",
        )


def _health(wanted: NodeGroupFacts, group: eks.Group) -> Iterator[Verdict]:
    for issue in group.get("health", {}).get("issues", []):
        yield broken(
            CHECK,
            wanted.path,
            seen=f"EKS reports {issue['code']}: {issue['message']}",
            means=f"{group['nodegroupName']} cannot get nodes until this is repaired",
            fix=_FIXES.get(issue["code"], "repair the resource that the message names, and run `pulumi up --refresh`"),
        )


def _drift(wanted: NodeGroupFacts, group: eks.Group) -> Iterator[Verdict]:
    """Yield differences from the stack file. The autoscaler changes the desired number, so that one is free."""
    size = group["scalingConfig"]
    pairs = {
        f"{wanted.path}.min": (size["minSize"], wanted.min_size),
        f"{wanted.path}.max": (size["maxSize"], wanted.max_size),
        f"{wanted.path}.instance-types": (", ".join(group["instanceTypes"]), ", ".join(wanted.instance_types)),
        f"{wanted.path}.capacity": (group["capacityType"], wanted.capacity_type),
    }
    for path, (has, states) in pairs.items():
        if has != states:
            yield doubtful(
                CHECK,
                path,
                seen=f"{group['nodegroupName']} has {has}, and the stack file states {states}",
                means="the node group was changed outside of Pulumi, or the stack file after the last update",
                fix="run `pulumi up --refresh`",
            )
    if size["desiredSize"] == size["maxSize"] and size["maxSize"] > size["minSize"]:
        yield doubtful(
            CHECK,
            f"{wanted.path}.max",
            seen=f"{group['nodegroupName']} has its {size['maxSize']} nodes, the largest number",
            means="further jobs for this pool wait until a node is free",
            fix=f"raise {wanted.path}.max, or wait",
        )
