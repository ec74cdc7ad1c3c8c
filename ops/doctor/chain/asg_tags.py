"""Check the tags from which the autoscaler knows the nodes of an empty pool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gpu_ci.derived import kubernetes
from ops.doctor.chain.sections import autoscaler as applies
from ops.doctor.finding import broken, works
from ops.doctor.questions import node_groups as eks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.kubernetes.node_group import NodeGroupFacts
    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "asg-tags"
NEEDS: Final = ("eks-cluster",)

_DISCOVERY: Final = "k8s.io/cluster-autoscaler/"
"""The start of the two tags that EKS sets, and by which the autoscaler finds the groups of its cluster."""


def check(world: World) -> Iterator[Verdict]:
    """Yield missing and wrong tags of each pool's auto-scaling group."""
    groups, cluster = eks.actual(world), world.stack.cluster_name
    for wanted in kubernetes.node_groups(world.stack):
        names = [name for group in eks.of(wanted, groups) for name in eks.auto_scaling_groups(group)]
        if not names:
            continue
        answer = world.aws.ask("autoscaling.describe_auto_scaling_groups", AutoScalingGroupNames=names)
        for group in answer["AutoScalingGroups"]:
            yield from _group(wanted, group, cluster)


def _group(wanted: NodeGroupFacts, group: dict[str, Any], cluster: str) -> Iterator[Verdict]:
    name = group["AutoScalingGroupName"]
    tags = {one["Key"]: one["Value"] for one in group.get("Tags", [])}
    discovery = {f"{_DISCOVERY}enabled": "true", f"{_DISCOVERY}{cluster}": "owned"}
    lost = [key for key, value in discovery.items() if tags.get(key) != value]
    if lost:
        yield broken(
            CHECK,
            wanted.path,
            seen=f"{name} lacks the tag {' and '.join(lost)}",
            means="the autoscaler does not find this group, so the pool stays at its number of nodes",
            fix="set the tags again: EKS sets them only when it creates the group; or recreate the pool",
        )
    wrong = [
        f"{tags[key]} instead of {value} as {key}" if key in tags else f"no tag {key}"
        for key, value in wanted.tags.items()
        if tags.get(key) != value
    ]
    if wrong:
        yield broken(
            CHECK,
            wanted.path,
            seen=f"{name} has {', '.join(wrong)}",
            means="the autoscaler assumes other nodes than the pool has, and does not start one for a waiting job",
            fix="run `pulumi up --refresh`, which sets the tags of the stack file",
        )
    if not lost and not wrong:
        yield works(CHECK, wanted.path, f"{name} has the tags of the autoscaler")
