"""EKS: clusters, node groups, add-ons and access; and the log group and scaling groups that belong to them.

Sources: `ForceNew` in hashicorp/terraform-provider-aws 6.x (`internal/service/eks`) for replacements, the EKS API
reference and user guide for refusals, the outputs of the pulumi-aws 7 SDK for answers (2026-11).
"""

from __future__ import annotations

import base64
from typing import Final

from ops.fakes.aws.eks_nodes import end_nodes, jobs_can_be_evicted, new_sizes_are_in_order, sizes_are_in_order
from ops.fakes.aws.eks_rules import (
    create_log_group,
    delete_objects_inside,
    entry_is_not_of_a_node_group,
    has_two_zones,
    is_not_protected,
    keeps_vpc_and_zones,
    nodes_can_join,
    pods_have_a_node,
    principal_has_an_entry,
    recreate_log_group,
    role_has_cluster_policy,
    service_account_is_free,
    template_and_group_agree,
)
from ops.fakes.aws.names import (
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
    SUBNET,
)
from ops.fakes.cloud.kinds import Kind, Reference
from ops.fakes.cloud.request import CREATED_AT, Created, Request

NO_CLUSTER: Final = "ResourceNotFoundException: No cluster found for name: {value}."
NO_SUBNET: Final = "InvalidParameterException: The subnet ID '{value}' does not exist"
NO_ROLE: Final = "InvalidParameterException: Role with arn: {value}, could not be assumed because it does not exist"
_INSIDE = Reference("clusterName", CLUSTER, by="name", missing=NO_CLUSTER, blocks=False, cascades=True)


def _cluster(request: Request) -> Created:
    name = request.physical()
    digest = request.upper(32)
    authority = base64.b64encode(f"fake certificate authority {request.hex(16, 'ca')}".encode()).decode()
    return name, {
        "name": name,
        "arn": request.arn("eks", f"cluster/{name}"),
        "createdAt": CREATED_AT,
        "endpoint": f"https://{digest}.gr7.{request.region}.eks.amazonaws.com",
        "certificateAuthority": {"data": authority},
        "identities": [{"oidcs": [{"issuer": f"https://oidc.eks.{request.region}.amazonaws.com/id/{digest}"}]}],
        "platformVersion": "eks.1",
        "status": "ACTIVE",
        "vpcConfig": {
            **(request.inputs.get("vpcConfig") or {}),
            "clusterSecurityGroupId": f"sg-{request.hex(17, 'cluster-group')}",
            "vpcId": f"vpc-{request.hex(17, 'vpc')}",
        },
    }


def _node_group(request: Request) -> Created:
    cluster = request.inputs.get("clusterName", "cluster")
    name = request.physical("nodeGroupName")
    uuid = request.uuid()
    return f"{cluster}:{name}", {
        "nodeGroupName": name,
        "arn": request.arn("eks", f"nodegroup/{cluster}/{name}/{uuid}"),
        "resources": [{"autoscalingGroups": [{"name": f"eks-{name}-{uuid}"}]}],
        "status": "ACTIVE",
    }


def _add_on(request: Request) -> Created:
    cluster, name = request.inputs.get("clusterName", "cluster"), request.inputs.get("addonName", request.name)
    arn = request.arn("eks", f"addon/{cluster}/{name}/{request.uuid()}")
    return f"{cluster}:{name}", {"arn": arn, "createdAt": CREATED_AT, "modifiedAt": CREATED_AT}


def _access_entry(request: Request) -> Created:
    cluster, principal = request.inputs.get("clusterName", "cluster"), str(request.inputs.get("principalArn", ""))
    entry = f"access-entry/{cluster}/role/{request.place.account}/{principal.rpartition('/')[2]}/{request.uuid()}"
    return f"{cluster}:{principal}", {
        "accessEntryArn": request.arn("eks", entry),
        "createdAt": CREATED_AT,
        "modifiedAt": CREATED_AT,
    }


def _access_policy(request: Request) -> Created:
    parts = (str(request.inputs.get(key, "")) for key in ("clusterName", "principalArn", "policyArn"))
    return "#".join(parts), {"associatedAt": CREATED_AT, "modifiedAt": CREATED_AT}


def _pod_identity(request: Request) -> Created:
    id_ = f"a-{request.hex(17)}"
    cluster = request.inputs.get("clusterName", "cluster")
    arn = request.arn("eks", f"podidentityassociation/{cluster}/{id_}")
    return id_, {"associationArn": arn, "associationId": id_}


def _scaling_group_tag(request: Request) -> Created:
    tag = request.inputs.get("tag") or {}
    return f"{request.inputs.get('autoscalingGroupName', 'group')},{tag.get('key', 'key')}", {}


def _log_group(request: Request) -> Created:
    name = request.physical()
    return name, {"name": name, "arn": request.arn("logs", f"log-group:{name}")}


TABLE: Final = (
    Kind(
        type=CLUSTER,
        answer=_cluster,
        identity=("name",),
        taken="ResourceInUseException: Cluster already exists with name: {0}",
        references=[
            Reference("roleArn", ROLE, by="arn", missing=NO_ROLE, blocks=False),
            Reference("vpcConfig.subnetIds.*", SUBNET, missing=NO_SUBNET),
            Reference(
                "encryptionConfig.provider.keyArn",
                KEY,
                by="arn",
                missing="InvalidParameterException: The keyArn in encryptionConfig provider is invalid: {value}",
                blocks=False,
            ),
        ],
        in_use="ResourceInUseException: Cluster has nodegroups attached (held by {holder})",
        delete_first="name",
        choices={
            "accessConfig.authenticationMode": ("API", "API_AND_CONFIG_MAP", "CONFIG_MAP"),
            "enabledClusterLogTypes.*": ("api", "audit", "authenticator", "controllerManager", "scheduler"),
            "upgradePolicy.supportType": ("EXTENDED", "STANDARD"),
            "kubernetesNetworkConfig.ipFamily": ("ipv4", "ipv6"),
            "encryptionConfig.resources.*": ("secrets",),
        },
        max_lengths={"name": 100},
        slow=True,
        before_create=[role_has_cluster_policy, has_two_zones],
        before_update=[keeps_vpc_and_zones],
        before_delete=[is_not_protected],
        after_create=[create_log_group],
        after_delete=[delete_objects_inside],
    ),
    Kind(
        type=NODE_GROUP,
        answer=_node_group,
        identity=("clusterName", "nodeGroupName"),
        taken="ResourceInUseException: NodeGroup already exists with name {1} and cluster name {0}",
        references=[
            Reference("clusterName", CLUSTER, by="name", missing=NO_CLUSTER),
            Reference("nodeRoleArn", ROLE, by="arn", missing=NO_ROLE, blocks=False),
            Reference("subnetIds.*", SUBNET, missing=NO_SUBNET),
            Reference(
                "launchTemplate.id",
                LAUNCH_TEMPLATE,
                missing="InvalidParameterException: The launch template ID '{value}' does not exist",
                blocks=False,
            ),
        ],
        delete_first="nodeGroupName",
        choices={
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
        max_lengths={"nodeGroupName": 63, "taints.*.key": 63, "taints.*.value": 63},
        slow=True,
        before_create=[template_and_group_agree, sizes_are_in_order, nodes_can_join],
        before_update=[new_sizes_are_in_order, jobs_can_be_evicted],
        on_update=[end_nodes],
    ),
    Kind(
        type=ADD_ON,
        answer=_add_on,
        identity=("clusterName", "addonName"),
        taken="ResourceInUseException: Addon already exists.",
        references=[
            _INSIDE,
            Reference("podIdentityAssociations.*.roleArn", ROLE, by="arn", missing=NO_ROLE, blocks=False),
            Reference("serviceAccountRoleArn", ROLE, by="arn", missing=NO_ROLE, blocks=False),
        ],
        choices={
            "resolveConflictsOnCreate": ("NONE", "OVERWRITE"),
            "resolveConflictsOnUpdate": ("NONE", "OVERWRITE", "PRESERVE"),
        },
        before_create=[pods_have_a_node],
    ),
    Kind(
        type=ACCESS_ENTRY,
        answer=_access_entry,
        identity=("clusterName", "principalArn"),
        taken="ResourceInUseException: The specified access entry resource is already in use on this cluster.",
        references=[_INSIDE],
        choices={"type": ("EC2", "EC2_LINUX", "EC2_WINDOWS", "FARGATE_LINUX", "HYBRID_LINUX", "STANDARD")},
        before_create=[entry_is_not_of_a_node_group],
    ),
    Kind(
        type=ACCESS_POLICY,
        answer=_access_policy,
        identity=("clusterName", "principalArn", "policyArn"),
        references=[_INSIDE],
        choices={"accessScope.type": ("cluster", "namespace")},
        before_create=[principal_has_an_entry],
    ),
    Kind(
        type=POD_IDENTITY,
        answer=_pod_identity,
        references=[
            _INSIDE,
            Reference("roleArn", ROLE, by="arn", missing=NO_ROLE, blocks=False),
        ],
        before_create=[service_account_is_free],
    ),
    Kind(
        type="aws:autoscaling/tag:Tag",
        answer=_scaling_group_tag,
        references=[
            Reference(
                "autoscalingGroupName",
                NODE_GROUP,
                by="resources.0.autoscalingGroups.0.name",
                missing="ValidationError: AutoScalingGroup name not found - AutoScalingGroup {value} not found",
                blocks=False,
                cascades=True,
            )
        ],
    ),
    Kind(
        type=LOG_GROUP,
        answer=_log_group,
        identity=("name",),
        taken="ResourceAlreadyExistsException: The specified log group already exists ({0})",
        references=[
            Reference(
                "kmsKeyId",
                KEY,
                by="arn",
                missing="InvalidParameterException: The specified KMS Key Id could not be found: {value}",
                blocks=False,
            )
        ],
        delete_first="name",
        max_lengths={"name": 512},
        after_delete=[recreate_log_group],
    ),
)
