"""Read why EC2 did not start machines: the activities of the auto-scaling groups."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from ops.doctor.chain.sections import cluster as applies
from ops.doctor.finding import broken, doubtful, works
from ops.doctor.questions import node_groups as eks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.kubernetes.node_group import NodeGroupFacts
    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "node-launches"
NEEDS: Final = ("eks-cluster",)

RECENT: Final = timedelta(hours=24)
_READ: Final = 50
"""The number of activities that are read."""
_REASONS: Final = (
    (
        ("InsufficientInstanceCapacity", "UnfulfillableCapacity", "do not have sufficient", "no Spot capacity"),
        "AWS has no free machine of these types in these zones at this time",
        "add instance types or zones to the pool, or a fallback pool with capacity: on-demand",
    ),
    (
        ("VcpuLimitExceeded", "MaxSpotInstanceCountExceeded", "InstanceLimitExceeded"),
        "the quota of the account is used up",
        "request a larger quota; the check live-quota names it",
    ),
    (
        ("SpotMaxPriceTooLow",),
        "the spot price is above the largest price of the request",
        "remove the largest price from the launch template",
    ),
    (
        ("ServiceLinkedRoleCreationNotPermitted", "AWSServiceRoleForEC2Spot"),
        "the account has never used spot, and its service-linked role does not exist",
        "run `aws iam create-service-linked-role --aws-service-name spot.amazonaws.com`",
    ),
    (
        ("InvalidKMSKey", "Client.InternalError", "KMSKey"),
        "the disk cannot be encrypted: Auto Scaling may not use the key",
        "give AWSServiceRoleForAutoScaling access to the key of EBS encryption",
    ),
    (
        ("InvalidAMIID", "image id"),
        "the machine image does not exist, or is not shared with this account",
        "run `pulumi up`; an own image must be built before the pool uses it",
    ),
    (
        ("InvalidSubnet", "InsufficientFreeAddresses"),
        "the subnet does not exist or has no free addresses",
        "run `pulumi up --refresh`",
    ),
)


def check(world: World) -> Iterator[Verdict]:
    """Yield the last failed start of each node group, unless a later start succeeded."""
    groups = eks.actual(world)
    for wanted in eks.declared(world.stack):
        for group in eks.of(wanted, groups):
            for name in eks.auto_scaling_groups(group):
                yield _activity(world, wanted, name)


def _activity(world: World, wanted: NodeGroupFacts, name: str) -> Verdict:
    answer = world.aws.ask(
        "autoscaling.describe_scaling_activities", AutoScalingGroupName=name, PaginationConfig={"MaxItems": _READ}
    )
    recent = [
        one
        for one in (answer or {}).get("Activities", [])
        if world.now - datetime.fromisoformat(one["StartTime"]) < RECENT and "Launching" in one.get("Description", "")
    ]
    recent.sort(key=lambda one: str(one["StartTime"]), reverse=True)
    failed = next((one for one in recent if one["StatusCode"] in {"Failed", "Cancelled"}), None)
    if failed is None:
        started = sum(one["StatusCode"] == "Successful" for one in recent)
        return works(CHECK, wanted.path, f"{name}: {started} machines started in 24 hours, and none failed")
    message = " ".join(str(failed.get("StatusMessage", "no reason")).split())
    means, fix = _explained(message)
    later = any(one["StatusCode"] == "Successful" and one["StartTime"] > failed["StartTime"] for one in recent)
    return (doubtful if later else broken)(
        CHECK,
        wanted.path,
        seen=f"{_time(failed)}: {message[:400]}",
        means=f"{means}; a later start succeeded" if later else means,
        fix=fix,
    )


def _time(activity: dict[str, Any]) -> str:
    return datetime.fromisoformat(activity["StartTime"]).strftime("%Y-%m-%d %H:%M")


def _explained(message: str) -> tuple[str, str]:
    for texts, means, fix in _REASONS:
        if any(text in message for text in texts):
            return means, fix
    return "EC2 refused to start the machine", "repair what the message names, and run the job again"
