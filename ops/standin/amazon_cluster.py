"""What EKS knows of clusters, node groups and those let in.

What replaces a thing is `ForceNew` in hashicorp/terraform-provider-aws 6.x (`internal/service/eks`); refusals and
their words are from the EKS API reference, the EKS user guide and its troubleshooting pages (both as of 2026-11).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ops.standin.amazon_network import LAUNCH_TEMPLATE, SECURITY_GROUP, SUBNET
from ops.standin.kinds import Kind, Reference, value_at, values_at

if TYPE_CHECKING:
    from ops.standin.cloud import Cloud
    from ops.standin.things import Thing

CLUSTER: Final = "aws:eks/cluster:Cluster"
NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
ADD_ON: Final = "aws:eks/addon:Addon"
ACCESS_ENTRY: Final = "aws:eks/accessEntry:AccessEntry"
ACCESS_POLICY: Final = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
ROLE: Final = "aws:iam/role:Role"
LOG_GROUP: Final = "aws:cloudwatch/logGroup:LogGroup"
KEY: Final = "aws:kms/key:Key"

NO_CLUSTER: Final = "ResourceNotFoundException: No cluster found for name: {value}."
NO_ROLE: Final = "InvalidParameterException: Role with arn: {value}, could not be assumed because it does not exist"
NEED_NODES: Final = frozenset({"coredns", "metrics-server", "aws-ebs-csi-driver", "eks-node-monitoring-agent"})
"""Add-ons whose pods tolerate no taint of ours: without a plain node they never become active."""
_INSIDE = Reference("clusterName", CLUSTER, by="name", missing=NO_CLUSTER, holds=False, follows=True)


def ready_nodes(cloud: Cloud, cluster: str) -> bool:
    """Whether the cluster has a node that a pod without tolerations can run on."""
    return any(
        group.inputs.get("clusterName") == cluster
        and group.phase == "ready"
        and not group.inputs.get("taints")
        and (value_at("scalingConfig.desiredSize", group.inputs) or 0) > 0
        for group in cloud.of(NODE_GROUP)
    )


def policies_of(cloud: Cloud, role: str) -> set[str]:
    """The last parts of the ARNs attached to the role that an ARN names."""
    attached = cloud.of("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
    return {
        str(item.inputs.get("policyArn")).rpartition("/")[2]
        for item in attached
        if item.inputs.get("role") == role.rpartition("/")[2]
    }


def _role_has_its_policy(cloud: Cloud, cluster: Thing) -> str | None:
    if "AmazonEKSClusterPolicy" in policies_of(cloud, str(cluster.inputs.get("roleArn"))):
        return None
    return (
        "InvalidParameterException: The provided role doesn't have the Amazon EKS Managed Policies associated with it. "
        "Please ensure the following policy is attached: arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
    )


def _not_guarded(_cloud: Cloud, cluster: Thing) -> str | None:
    if cluster.inputs.get("deletionProtection"):
        return "InvalidRequestException: Cluster has deletion protection enabled"
    return None


def _log_group_name(cluster: Thing) -> str:
    return f"/aws/eks/{cluster.inputs.get('name')}/cluster"


def _writes_its_log(cloud: Cloud, cluster: Thing) -> None:
    """EKS makes the log group it finds missing: without an end, and nobody's to delete."""
    name = _log_group_name(cluster)
    if cluster.inputs.get("enabledClusterLogTypes") and not any(group.id == name for group in cloud.of(LOG_GROUP)):
        cloud.put(LOG_GROUP, name, {"name": name}, cluster.caller)


def _lost_its_log(cloud: Cloud, group: Thing) -> None:
    """A log group that goes before its cluster comes back."""
    for cluster in cloud.of(CLUSTER):
        if _log_group_name(cluster) == group.id:
            _writes_its_log(cloud, cluster)


def _goes_with_all_inside(cloud: Cloud, cluster: Thing) -> None:
    cloud.forget_inside(str(cluster.outputs.get("arn")))


def _template_and_group_agree(cloud: Cloud, group: Thing) -> str | None:
    """EKS refuses what is said twice, and some things said in the wrong place."""
    stated = group.inputs
    template = cloud.find(LAUNCH_TEMPLATE, str(value_at("launchTemplate.id", stated)))
    if template is None:
        return None
    inside: dict[str, Any] = dict(template.inputs)
    if stated.get("diskSize"):
        return "InvalidParameterException: Disk size must be specified within the launch template."
    if stated.get("instanceTypes") and inside.get("instanceType"):
        return (
            "InvalidParameterException: Instance types can only be specified in the node group or the launch template"
        )
    if stated.get("remoteAccess"):
        return "InvalidParameterException: Remote access configuration cannot be specified with a launch template."
    if inside.get("imageId") and (stated.get("amiType", "CUSTOM") != "CUSTOM" or stated.get("releaseVersion")):
        return (
            "InvalidParameterException: You cannot specify an AMI Type other than CUSTOM, when specifying an image id"
        )
    if inside.get("iamInstanceProfile"):
        return "InvalidParameterException: IAM instance profile cannot be specified in the launch template"
    return None


def _sizes_are_in_order(_cloud: Cloud, group: Thing) -> str | None:
    least, wanted, most = (
        value_at(f"scalingConfig.{key}", group.inputs) for key in ("minSize", "desiredSize", "maxSize")
    )
    if None in (least, wanted, most) or least <= wanted <= most:
        return None
    return f"InvalidParameterException: desired capacity {wanted} must lie between min size {least} and max size {most}"


def _nodes_can_join(cloud: Cloud, group: Thing) -> str | None:
    """A node that has no network, or may not call the cluster, never becomes ready; an empty group shows nothing."""
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


def _pods_find_a_node(cloud: Cloud, add_on: Thing) -> str | None:
    name, cluster = add_on.inputs.get("addonName"), str(add_on.inputs.get("clusterName"))
    if name not in NEED_NODES or ready_nodes(cloud, cluster):
        return None
    return (
        f"waiting for EKS Add-On ({cluster}:{name}) create: timeout while waiting for state to become 'ACTIVE' "
        "(last state: 'DEGRADED', timeout: 20m0s): InsufficientNumberOfReplicas"
    )


def _entry_is_not_eks_own(cloud: Cloud, entry: Thing) -> str | None:
    """EKS makes the entry of a node group's role itself."""
    groups = cloud.of(NODE_GROUP)
    if any(group.inputs.get("nodeRoleArn") == entry.inputs.get("principalArn") for group in groups):
        return "ResourceInUseException: The specified access entry resource is already in use on this cluster."
    return None


def _principal_has_an_entry(cloud: Cloud, association: Thing) -> str | None:
    same = (association.inputs.get("clusterName"), association.inputs.get("principalArn"))
    if any(
        (entry.inputs.get("clusterName"), entry.inputs.get("principalArn")) == same for entry in cloud.of(ACCESS_ENTRY)
    ):
        return None
    return "ResourceNotFoundException: The specified principalArn could not be found."


def _service_account_is_free(cloud: Cloud, association: Thing) -> str | None:
    keys = ("clusterName", "namespace", "serviceAccount")
    wanted = [association.inputs.get(key) for key in keys]
    for other in cloud.of("aws:eks/podIdentityAssociation:PodIdentityAssociation"):
        if [other.inputs.get(key) for key in keys] == wanted:
            return f"ResourceInUseException: Association already exists: {other.id}"
    for add_on in cloud.of(ADD_ON):
        accounts = [value for _, value in values_at("podIdentityAssociations.*.serviceAccount", add_on.inputs)]
        if add_on.inputs.get("clusterName") == wanted[0] and wanted[1] == "kube-system" and wanted[2] in accounts:
            return f"ResourceInUseException: Association already exists for add-on {add_on.id}"
    return None


KINDS: Final = (
    Kind(
        type=CLUSTER,
        identity=("name",),
        taken="ResourceInUseException: Cluster already exists with name: {0}",
        references=[
            Reference("roleArn", ROLE, by="arn", missing=NO_ROLE, holds=False),
            Reference(
                "vpcConfig.subnetIds.*",
                SUBNET,
                missing="InvalidParameterException: The subnet ID '{value}' does not exist",
            ),
            Reference("vpcConfig.securityGroupIds.*", SECURITY_GROUP, foreign="^sg-"),
            Reference(
                "encryptionConfig.provider.keyArn",
                KEY,
                by="arn",
                missing="InvalidParameterException: The keyArn in encryptionConfig provider is invalid: {value}",
                holds=False,
            ),
        ],
        in_use="ResourceInUseException: Cluster has nodegroups attached (held by {holder})",
        replaced_by=frozenset(
            {
                "name",
                "roleArn",
                "bootstrapSelfManagedAddons",
                "accessConfig.bootstrapClusterCreatorAdminPermissions",
                "kubernetesNetworkConfig.ipFamily",
                "kubernetesNetworkConfig.serviceIpv4Cidr",
                "outpostConfig",
            }
        ),
        delete_first="name",
        words={
            "accessConfig.authenticationMode": ("API", "API_AND_CONFIG_MAP", "CONFIG_MAP"),
            "enabledClusterLogTypes.*": ("api", "audit", "authenticator", "controllerManager", "scheduler"),
            "upgradePolicy.supportType": ("EXTENDED", "STANDARD"),
            "kubernetesNetworkConfig.ipFamily": ("ipv4", "ipv6"),
            "encryptionConfig.resources.*": ("secrets",),
        },
        lengths={"name": 100},
        slow=True,
        before_create=[_role_has_its_policy],
        before_delete=[_not_guarded],
        after_create=[_writes_its_log],
        after_delete=[_goes_with_all_inside],
    ),
    Kind(
        type=NODE_GROUP,
        identity=("clusterName", "nodeGroupName"),
        taken="ResourceInUseException: NodeGroup already exists with name {1} and cluster name {0}",
        references=[
            Reference("clusterName", CLUSTER, by="name", missing=NO_CLUSTER),
            Reference("nodeRoleArn", ROLE, by="arn", missing=NO_ROLE, holds=False),
            Reference(
                "subnetIds.*", SUBNET, missing="InvalidParameterException: The subnet ID '{value}' does not exist"
            ),
            Reference(
                "launchTemplate.id",
                LAUNCH_TEMPLATE,
                missing="InvalidParameterException: The launch template ID '{value}' does not exist",
                holds=False,
            ),
        ],
        replaced_by=frozenset(
            {
                "amiType",
                "capacityType",
                "clusterName",
                "diskSize",
                "instanceTypes",
                "launchTemplate.id",
                "launchTemplate.name",
                "nodeGroupName",
                "nodeGroupNamePrefix",
                "nodeRoleArn",
                "remoteAccess",
                "subnetIds",
            }
        ),
        delete_first="nodeGroupName",
        words={
            "amiType": (
                "AL2023_ARM_64_NVIDIA",
                "AL2023_ARM_64_STANDARD",
                "AL2023_x86_64_NEURON",
                "AL2023_x86_64_NVIDIA",
                "AL2023_x86_64_STANDARD",
                "BOTTLEROCKET_ARM_64",
                "BOTTLEROCKET_ARM_64_NVIDIA",
                "BOTTLEROCKET_x86_64",
                "BOTTLEROCKET_x86_64_NVIDIA",
                "CUSTOM",
            ),
            "capacityType": ("CAPACITY_BLOCK", "ON_DEMAND", "SPOT"),
            "taints.*.effect": ("NO_EXECUTE", "NO_SCHEDULE", "PREFER_NO_SCHEDULE"),
            "updateConfig.updateStrategy": ("DEFAULT", "MINIMAL"),
        },
        lengths={"nodeGroupName": 63, "taints.*.key": 63, "taints.*.value": 63},
        slow=True,
        before_create=[_template_and_group_agree, _sizes_are_in_order, _nodes_can_join],
    ),
    Kind(
        type=ADD_ON,
        identity=("clusterName", "addonName"),
        taken="ResourceInUseException: Addon already exists.",
        references=[
            _INSIDE,
            Reference("podIdentityAssociations.*.roleArn", ROLE, by="arn", missing=NO_ROLE, holds=False),
            Reference("serviceAccountRoleArn", ROLE, by="arn", missing=NO_ROLE, holds=False),
        ],
        replaced_by=frozenset({"addonName", "clusterName"}),
        words={
            "resolveConflictsOnCreate": ("NONE", "OVERWRITE"),
            "resolveConflictsOnUpdate": ("NONE", "OVERWRITE", "PRESERVE"),
        },
        before_create=[_pods_find_a_node],
    ),
    Kind(
        type=ACCESS_ENTRY,
        identity=("clusterName", "principalArn"),
        taken="ResourceInUseException: The specified access entry resource is already in use on this cluster.",
        references=[_INSIDE],
        replaced_by=frozenset({"clusterName", "principalArn", "type"}),
        words={"type": ("EC2", "EC2_LINUX", "EC2_WINDOWS", "FARGATE_LINUX", "HYBRID_LINUX", "STANDARD")},
        before_create=[_entry_is_not_eks_own],
    ),
    Kind(
        type=ACCESS_POLICY,
        identity=("clusterName", "principalArn", "policyArn"),
        references=[_INSIDE],
        replaced_by=frozenset({"clusterName", "principalArn", "policyArn", "accessScope"}),
        words={"accessScope.type": ("cluster", "namespace")},
        before_create=[_principal_has_an_entry],
    ),
    Kind(
        type="aws:eks/podIdentityAssociation:PodIdentityAssociation",
        references=[
            _INSIDE,
            Reference("roleArn", ROLE, by="arn", missing=NO_ROLE, holds=False),
        ],
        replaced_by=frozenset({"clusterName", "namespace", "serviceAccount"}),
        before_create=[_service_account_is_free],
    ),
    Kind(
        type="aws:autoscaling/tag:Tag",
        references=[
            Reference(
                "autoscalingGroupName",
                NODE_GROUP,
                by="resources.0.autoscalingGroups.0.name",
                missing="ValidationError: AutoScalingGroup name not found - AutoScalingGroup {value} not found",
                holds=False,
                follows=True,
            )
        ],
        replaced_by=frozenset({"autoscalingGroupName", "tag.key"}),
    ),
    Kind(
        type=LOG_GROUP,
        identity=("name",),
        taken="ResourceAlreadyExistsException: The specified log group already exists ({0})",
        references=[
            Reference(
                "kmsKeyId",
                KEY,
                by="arn",
                missing="InvalidParameterException: The specified KMS Key Id could not be found: {value}",
                holds=False,
            )
        ],
        replaced_by=frozenset({"name", "namePrefix", "logGroupClass"}),
        delete_first="name",
        lengths={"name": 512},
        after_delete=[_lost_its_log],
    ),
)
"""Every type of this chapter."""
