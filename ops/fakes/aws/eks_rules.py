"""Refusals and side effects of EKS that no field of a row expresses.

From the EKS API reference, the EKS user guide and its troubleshooting pages (2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gpu_ci.knowledge.kubernetes.add_ons import ADD_ONS
from ops.fakes.aws.names import (
    ACCESS_ENTRY,
    ADD_ON,
    ATTACHMENT,
    CLUSTER,
    LAUNCH_TEMPLATE,
    LOG_GROUP,
    NODE_GROUP,
    POD_IDENTITY,
    SUBNET,
)
from ops.fakes.cloud.objects import CloudObject, Objects
from ops.fakes.cloud.paths import value_at, values_at

NEED_NODES: Final = frozenset(add_on.name for add_on in ADD_ONS if add_on.needs_nodes)
"""Add-ons whose pods tolerate no taint: without an untainted node they never become active."""


def ready_nodes(cloud: Objects, cluster: str) -> bool:
    """Return whether the cluster has a node for pods without tolerations. A cluster of another tool has one."""
    return cluster in cloud.outside or any(
        group.inputs.get("clusterName") == cluster
        and group.phase == "ready"
        and not group.inputs.get("taints")
        and (value_at("scalingConfig.desiredSize", group.inputs) or 0) > 0
        for group in cloud.of(NODE_GROUP)
    )


def policies_of(cloud: Objects, role: str) -> set[str]:
    """Return the names of the policies that are attached to the role with this ARN."""
    attached = cloud.of(ATTACHMENT)
    return {
        str(item.inputs.get("policyArn")).rpartition("/")[2]
        for item in attached
        if item.inputs.get("role") == role.rpartition("/")[2]
    }


def role_has_cluster_policy(cloud: Objects, cluster: CloudObject) -> str | None:
    if "AmazonEKSClusterPolicy" in policies_of(cloud, str(cluster.inputs.get("roleArn"))):
        return None
    return (
        "InvalidParameterException: The provided role doesn't have the Amazon EKS Managed Policies associated with it. "
        "Please ensure the following policy is attached: arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
    )


def keeps_vpc_and_zones(cloud: Objects, cluster: CloudObject, wanted: Mapping[str, Any]) -> str | None:
    """Refuse new subnets outside the VPC and the zones of the cluster (EKS user guide, VPC)."""
    before, after = (_subnets(cloud, inputs) for inputs in (cluster.inputs, wanted))
    for what, words in (
        ("vpcId", "in the same VPC"),
        ("availabilityZone", "in the same set of availability zones"),
    ):
        if {subnet.inputs.get(what) for subnet in before} != {subnet.inputs.get(what) for subnet in after}:
            return f"InvalidParameterException: Provided subnets must be {words} as those of the cluster's creation"
    return None


def has_two_zones(cloud: Objects, cluster: CloudObject) -> str | None:
    """Refuse subnets in one zone (EKS user guide, VPC)."""
    named = [str(value) for _, value in values_at("vpcConfig.subnetIds.*", cluster.inputs)]
    zones = {cloud.outside[one] for one in named if one in cloud.outside}
    zones |= {str(subnet.inputs.get("availabilityZone")) for subnet in _subnets(cloud, cluster.inputs)}
    if len(zones) > 1:
        return None
    return "InvalidParameterException: Subnets specified must be in at least two different AZs"


def _subnets(cloud: Objects, inputs: Mapping[str, Any]) -> list[CloudObject]:
    named = {value for _, value in values_at("vpcConfig.subnetIds.*", inputs)}
    return [subnet for subnet in cloud.of(SUBNET) if subnet.id in named]


def is_not_protected(_cloud: Objects, cluster: CloudObject) -> str | None:
    if cluster.inputs.get("deletionProtection"):
        return "InvalidRequestException: Cluster has deletion protection enabled"
    return None


def log_group_name(cluster: CloudObject) -> str:
    return f"/aws/eks/{cluster.inputs.get('name')}/cluster"


def create_log_group(cloud: Objects, cluster: CloudObject) -> None:
    """Create the cluster's log group if it is missing, without a retention; no stack owns it."""
    name = log_group_name(cluster)
    if cluster.inputs.get("enabledClusterLogTypes") and not any(group.id == name for group in cloud.of(LOG_GROUP)):
        cloud.put(LOG_GROUP, name, {"name": name}, cluster.caller)


def recreate_log_group(cloud: Objects, group: CloudObject) -> None:
    """Recreate a log group that is deleted before its cluster."""
    for cluster in cloud.of(CLUSTER):
        if log_group_name(cluster) == group.id:
            create_log_group(cloud, cluster)


def delete_objects_inside(cloud: Objects, cluster: CloudObject) -> None:
    cloud.forget_inside(str(cluster.outputs.get("arn")))


def template_and_group_agree(cloud: Objects, group: CloudObject) -> str | None:
    """Refuse settings that belong in the launch template or in the node group, not in both."""
    stated = group.inputs
    template = cloud.find(LAUNCH_TEMPLATE, str(value_at("launchTemplate.id", stated)))
    if template is None:
        return None
    inside = template.inputs
    own_image = stated.get("amiType", "CUSTOM") != "CUSTOM" or stated.get("releaseVersion")
    clashes = {
        "Disk size must be specified within the launch template.": stated.get("diskSize"),
        "Instance types can be specified in the node group or in the launch template, not in both.": (
            stated.get("instanceTypes") and inside.get("instanceType")
        ),
        "Remote access configuration cannot be specified with a launch template.": stated.get("remoteAccess"),
        "You cannot specify an AMI type other than CUSTOM, nor a release version, when specifying an image id.": (
            inside.get("imageId") and own_image
        ),
        "The launch template must not specify an IAM instance profile.": inside.get("iamInstanceProfile"),
    }
    return next((f"InvalidParameterException: {words}" for words, clash in clashes.items() if clash), None)


def nodes_can_join(cloud: Objects, group: CloudObject) -> str | None:
    """Refuse nodes without a network plugin or without permission to join; an empty group passes."""
    if not value_at("scalingConfig.desiredSize", group.inputs):
        return None
    missing = {"AmazonEKSWorkerNodePolicy"} - policies_of(cloud, str(group.inputs.get("nodeRoleArn")))
    cluster = next((one for one in cloud.of(CLUSTER) if one.id == group.inputs.get("clusterName")), None)
    network = any(
        add_on.inputs.get("clusterName") == group.inputs.get("clusterName")
        and add_on.inputs.get("addonName") == "vpc-cni"
        for add_on in cloud.of(ADD_ON)
    )
    if cluster is not None and cluster.inputs.get("bootstrapSelfManagedAddons") is False and not network:
        missing.add("vpc-cni")
    if missing:
        return (
            "NodeCreationFailure: Instances failed to join the kubernetes cluster "
            f"(the nodes are without {', '.join(sorted(missing))})"
        )
    return None


def pods_have_a_node(cloud: Objects, add_on: CloudObject) -> str | None:
    name, cluster = add_on.inputs.get("addonName"), str(add_on.inputs.get("clusterName"))
    if name not in NEED_NODES or ready_nodes(cloud, cluster):
        return None
    return (
        f"waiting for EKS Add-On ({cluster}:{name}) create: timeout while waiting for state to become 'ACTIVE' "
        "(last state: 'DEGRADED', timeout: 20m0s): InsufficientNumberOfReplicas"
    )


def entry_is_not_of_a_node_group(cloud: Objects, entry: CloudObject) -> str | None:
    """Refuse an entry for the role of a node group: EKS creates that one."""
    groups = cloud.of(NODE_GROUP)
    if any(group.inputs.get("nodeRoleArn") == entry.inputs.get("principalArn") for group in groups):
        return "ResourceInUseException: The specified access entry resource is already in use on this cluster."
    return None


def principal_has_an_entry(cloud: Objects, association: CloudObject) -> str | None:
    same = (association.inputs.get("clusterName"), association.inputs.get("principalArn"))
    if any(
        (entry.inputs.get("clusterName"), entry.inputs.get("principalArn")) == same for entry in cloud.of(ACCESS_ENTRY)
    ):
        return None
    return "ResourceNotFoundException: The specified principalArn could not be found."


def service_account_is_free(cloud: Objects, association: CloudObject) -> str | None:
    keys = ("clusterName", "namespace", "serviceAccount")
    wanted = [association.inputs.get(key) for key in keys]
    for other in cloud.of(POD_IDENTITY):
        if [other.inputs.get(key) for key in keys] == wanted:
            return f"ResourceInUseException: Association already exists: {other.id}"
    for add_on in cloud.of(ADD_ON):
        accounts = [value for _, value in values_at("podIdentityAssociations.*.serviceAccount", add_on.inputs)]
        if add_on.inputs.get("clusterName") == wanted[0] and wanted[1] == "kube-system" and wanted[2] in accounts:
            return f"ResourceInUseException: Association already exists for add-on {add_on.id}"
    return None
