"""The cluster in EKS, its node groups, and the machines that EC2 starts for them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from gpu_ci.derived import kubernetes
from gpu_ci.knowledge.kubernetes.node_group import NodeGroupFacts
from gpu_ci.stack_file.sections.aws import ClusterSettings
from ops.doctor.chain import sections
from ops.doctor.check import Chapter
from ops.doctor.finding import Finding, broken, doubtful, works
from ops.doctor.log.reasons import reason_of
from ops.doctor.questions import node_groups as eks
from ops.doctor.world.world import World

CHAPTER: Final = Chapter()


@CHAPTER.check(needs=("aws-account",), applies=sections.cluster)
def eks_cluster(world: World) -> Iterator[Finding]:
    """Check that the cluster exists in EKS, is active, and has the version and the ranges of the stack file."""
    stated, name = world.settings.cluster, world.stack.cluster_name
    if stated is None:
        return
    answer = world.aws.ask("eks.describe_cluster", name=name)
    if answer is None:
        yield broken(
            name,
            seen=f"EKS has no cluster {name} in this account and region",
            means="the stack was never deployed, was destroyed, or is in another region",
            fix=f"run `pulumi up --stack {world.stack.identity.stack}`",
        )
        return
    cluster = answer["cluster"]
    found = [*_faults(cluster), *_differences(cluster, stated)]
    yield from found
    if not found:
        yield works(name, f"{name} is active with Kubernetes {cluster['version']}")


def _faults(cluster: dict[str, Any]) -> Iterator[Finding]:
    name, status = cluster["name"], cluster["status"]
    if status == "UPDATING":
        yield doubtful(
            name,
            seen="the status of the cluster is UPDATING",
            means="an update runs; it ends within an hour, and the API may be slow",
            fix="wait until the update ends, and run the doctor again",
        )
    elif status != "ACTIVE":
        yield broken(
            name,
            seen=f"the status of the cluster is {status}",
            means="EKS serves the API only for a cluster that is ACTIVE or UPDATING",
            fix="wait if it is CREATING; otherwise read the reason in the EKS console",
        )
    for issue in cluster.get("health", {}).get("issues", []):
        yield broken(
            name,
            seen=f"EKS reports {issue['code']}: {issue['message']}",
            means="EKS cannot maintain the cluster until the resource that it names is restored",
            fix=f"restore {', '.join(issue.get('resourceIds', [])) or 'the resource'}; `pulumi up --refresh` shows it",
        )


def _differences(cluster: dict[str, Any], stated: ClusterSettings) -> Iterator[Finding]:
    if cluster["version"] != stated.version:
        yield doubtful(
            "cluster.version",
            seen=f"the cluster has Kubernetes {cluster['version']}, and the stack file states {stated.version}",
            means="nodes, add-ons and the autoscaler are pinned to the version of the stack file",
            fix="run `pulumi up`, or state the version that the cluster has",
        )
    if stated.existing is not None:
        return  # Another tool manages its endpoint.
    ranges = cluster["resourcesVpcConfig"]
    actual = set(ranges.get("publicAccessCidrs", [])) if ranges.get("endpointPublicAccess") else set()
    wanted = {str(one) for one in stated.endpoint.public}
    if stated.existing is None and actual != wanted:
        yield doubtful(
            "cluster.endpoint.public",
            seen=f"the public endpoint accepts {_listed(actual)}, and the stack file states {_listed(wanted)}",
            means="other addresses outside the network get no answer from the API of Kubernetes",
            fix="run `pulumi up`, or state the ranges that the cluster has",
        )


def _listed(ranges: set[str]) -> str:
    return ", ".join(sorted(ranges)) or "no address"


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


@CHAPTER.check(needs=("eks-cluster",), applies=sections.cluster)
def node_groups(world: World) -> Iterator[Finding]:
    """Check that every node group exists in EKS, is healthy, and has the limits of the stack file."""
    groups = eks.actual(world)
    for wanted in eks.declared(world.stack):
        found = eks.of(wanted, groups)
        if not found:
            yield broken(
                wanted.path,
                seen="EKS has no node group for it",
                means="jobs that need it wait until GitHub gives them up",
                fix="run `pulumi up`",
            )
        for group in found:
            yield from _node_group(wanted, group)


def _node_group(wanted: NodeGroupFacts, group: eks.Group) -> Iterator[Finding]:
    name, status = group["nodegroupName"], group["status"]
    faults = [*_health(wanted, group), *_drift(wanted, group)]
    if status in _BUSY:
        faults.append(
            doubtful(
                wanted.path,
                seen=f"the status of {name} is {status}",
                means="EKS changes the nodes; a node that is replaced is drained first",
                fix="wait until the status is ACTIVE, and run the doctor again",
            )
        )
    elif status != "ACTIVE" and not faults:
        faults.append(
            broken(
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
            wanted.path,
            f"{name} is active with {size['desiredSize']} nodes, between {size['minSize']} and {size['maxSize']}",
        )


def _health(wanted: NodeGroupFacts, group: eks.Group) -> Iterator[Finding]:
    for issue in group.get("health", {}).get("issues", []):
        yield broken(
            wanted.path,
            seen=f"EKS reports {issue['code']}: {issue['message']}",
            means=f"{group['nodegroupName']} cannot get nodes until this is repaired",
            fix=_FIXES.get(issue["code"], "repair the resource that the message names, and run `pulumi up --refresh`"),
        )


def _drift(wanted: NodeGroupFacts, group: eks.Group) -> Iterator[Finding]:
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
                path,
                seen=f"{group['nodegroupName']} has {has}, and the stack file states {states}",
                means="the node group was changed outside of Pulumi, or the stack file after the last update",
                fix="run `pulumi up --refresh`",
            )
    if size["desiredSize"] == size["maxSize"] and size["maxSize"] > size["minSize"]:
        yield doubtful(
            f"{wanted.path}.max",
            seen=f"{group['nodegroupName']} has its {size['maxSize']} nodes, the largest number",
            means="further jobs for this pool wait until a node is free",
            fix=f"raise {wanted.path}.max, or wait",
        )


_DISCOVERY: Final = "k8s.io/cluster-autoscaler/"
"""The start of the two tags that EKS sets, and by which the autoscaler finds the groups of its cluster."""


@CHAPTER.check(needs=("eks-cluster",), applies=sections.autoscaler)
def asg_tags(world: World) -> Iterator[Finding]:
    """Check the tags from which the autoscaler knows the nodes of an empty pool."""
    groups, cluster = eks.actual(world), world.stack.cluster_name
    for wanted in kubernetes.node_groups(world.stack):
        names = [name for group in eks.of(wanted, groups) for name in eks.auto_scaling_groups(group)]
        if not names:
            continue
        answer = world.aws.ask("autoscaling.describe_auto_scaling_groups", AutoScalingGroupNames=names)
        for group in answer["AutoScalingGroups"]:
            yield from _tags(wanted, group, cluster)


def _tags(wanted: NodeGroupFacts, group: dict[str, Any], cluster: str) -> Iterator[Finding]:
    name = group["AutoScalingGroupName"]
    tags = {one["Key"]: one["Value"] for one in group.get("Tags", [])}
    discovery = {f"{_DISCOVERY}enabled": "true", f"{_DISCOVERY}{cluster}": "owned"}
    lost = [key for key, value in discovery.items() if tags.get(key) != value]
    if lost:
        yield broken(
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
            wanted.path,
            seen=f"{name} has {', '.join(wrong)}",
            means="the autoscaler assumes other nodes than the pool has, and does not start one for a waiting job",
            fix="run `pulumi up --refresh`, which sets the tags of the stack file",
        )
    if not lost and not wrong:
        yield works(wanted.path, f"{name} has the tags of the autoscaler")


_RECENT: Final = timedelta(hours=24)
_READ: Final = 50
"""The number of activities that are read."""


@CHAPTER.check(needs=("eks-cluster",), applies=sections.cluster)
def node_launches(world: World) -> Iterator[Finding]:
    """Read why EC2 did not start machines: the activities of the auto-scaling groups."""
    groups = eks.actual(world)
    for wanted in eks.declared(world.stack):
        for group in eks.of(wanted, groups):
            for name in eks.auto_scaling_groups(group):
                yield _activity(world, wanted, name)


def _activity(world: World, wanted: NodeGroupFacts, name: str) -> Finding:
    answer = world.aws.ask(
        "autoscaling.describe_scaling_activities", AutoScalingGroupName=name, PaginationConfig={"MaxItems": _READ}
    )
    recent = [
        one
        for one in (answer or {}).get("Activities", [])
        if world.now - datetime.fromisoformat(one["StartTime"]) < _RECENT and "Launching" in one.get("Description", "")
    ]
    recent.sort(key=lambda one: str(one["StartTime"]), reverse=True)
    failed = next((one for one in recent if one["StatusCode"] in {"Failed", "Cancelled"}), None)
    if failed is None:
        started = sum(one["StatusCode"] == "Successful" for one in recent)
        return works(wanted.path, f"{name}: {started} machines started in 24 hours, and none failed")
    message = " ".join(str(failed.get("StatusMessage", "no reason")).split())
    reason = reason_of("node-launches", message)
    means = reason.meaning if reason else "EC2 refused to start the machine"
    later = any(one["StatusCode"] == "Successful" and one["StartTime"] > failed["StartTime"] for one in recent)
    return (doubtful if later else broken)(
        wanted.path,
        seen=f"{_time(failed)}: {message[:400]}",
        means=f"{means}; a later start succeeded" if later else means,
        fix=reason.fix if reason else "repair what the message names, and run the job again",
    )


def _time(activity: dict[str, Any]) -> str:
    return datetime.fromisoformat(activity["StartTime"]).strftime("%Y-%m-%d %H:%M")
