"""What EKS knows of clusters, node groups and those let in.

What replaces a thing is `ForceNew` in hashicorp/terraform-provider-aws 6.x (`internal/service/eks`); refusals and
their words are from the EKS API reference, the EKS user guide and its troubleshooting pages (both as of 2026-11).
"""

from __future__ import annotations

from typing import Final

from fakes.aws.cluster_checks import (
    entry_is_not_eks_own,
    goes_with_all_inside,
    lost_its_log,
    nodes_can_join,
    not_guarded,
    pods_find_a_node,
    principal_has_an_entry,
    role_has_its_policy,
    service_account_is_free,
    sizes_are_in_order,
    stays_where_it_is,
    template_and_group_agree,
    writes_its_log,
)
from fakes.aws.names import (
    ACCESS_ENTRY,
    ACCESS_POLICY,
    ADD_ON,
    CLUSTER,
    KEY,
    LAUNCH_TEMPLATE,
    LOG_GROUP,
    NODE_GROUP,
    POD_IDENTITY,
    ROLE,
    SECURITY_GROUP,
    SUBNET,
)
from fakes.kinds import Kind, Reference

NO_CLUSTER: Final = "ResourceNotFoundException: No cluster found for name: {value}."
NO_ROLE: Final = "InvalidParameterException: Role with arn: {value}, could not be assumed because it does not exist"
_INSIDE = Reference("clusterName", CLUSTER, by="name", missing=NO_CLUSTER, holds=False, follows=True)


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
        before_create=[role_has_its_policy],
        before_update=[stays_where_it_is],
        before_delete=[not_guarded],
        after_create=[writes_its_log],
        after_delete=[goes_with_all_inside],
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
        before_create=[template_and_group_agree, sizes_are_in_order, nodes_can_join],
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
        before_create=[pods_find_a_node],
    ),
    Kind(
        type=ACCESS_ENTRY,
        identity=("clusterName", "principalArn"),
        taken="ResourceInUseException: The specified access entry resource is already in use on this cluster.",
        references=[_INSIDE],
        replaced_by=frozenset({"clusterName", "principalArn", "type"}),
        words={"type": ("EC2", "EC2_LINUX", "EC2_WINDOWS", "FARGATE_LINUX", "HYBRID_LINUX", "STANDARD")},
        before_create=[entry_is_not_eks_own],
    ),
    Kind(
        type=ACCESS_POLICY,
        identity=("clusterName", "principalArn", "policyArn"),
        references=[_INSIDE],
        replaced_by=frozenset({"clusterName", "principalArn", "policyArn", "accessScope"}),
        words={"accessScope.type": ("cluster", "namespace")},
        before_create=[principal_has_an_entry],
    ),
    Kind(
        type=POD_IDENTITY,
        references=[
            _INSIDE,
            Reference("roleArn", ROLE, by="arn", missing=NO_ROLE, holds=False),
        ],
        replaced_by=frozenset({"clusterName", "namespace", "serviceAccount"}),
        before_create=[service_account_is_free],
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
        after_delete=[lost_its_log],
    ),
)
"""Every type of this chapter."""
