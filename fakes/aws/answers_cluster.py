"""What EKS, IAM and KMS compute beside the inputs: control planes, nodes, roles and keys.

Forms are those of AWS's own documentation of each resource as the pulumi-aws 7 SDK lists its outputs (2026-11).
"""

from __future__ import annotations

import base64
from typing import Final

from fakes.answers_asked import CREATED_AT, Asked, Made, Maker


def _cluster(asked: Asked) -> Made:
    name = asked.physical()
    digest = asked.upper(32)
    vpc_config = dict(asked.inputs.get("vpcConfig") or {})
    vpc_config["clusterSecurityGroupId"] = f"sg-{asked.hex(17, 'cluster-group')}"
    vpc_config["vpcId"] = f"vpc-{asked.hex(17, 'vpc')}"
    authority = f"a stand-in certificate authority {asked.hex(16, 'ca')}"
    return name, {
        "name": name,
        "arn": asked.arn("eks", f"cluster/{name}"),
        "createdAt": CREATED_AT,
        "endpoint": f"https://{digest}.gr7.{asked.region}.eks.amazonaws.com",
        "certificateAuthority": {"data": base64.b64encode(authority.encode()).decode()},
        "identities": [{"oidcs": [{"issuer": f"https://oidc.eks.{asked.region}.amazonaws.com/id/{digest}"}]}],
        "platformVersion": "eks.1",
        "status": "ACTIVE",
        "vpcConfig": vpc_config,
    }


def _node_group(asked: Asked) -> Made:
    cluster = asked.inputs.get("clusterName", "cluster")
    name = asked.physical("nodeGroupName")
    uuid = asked.uuid()
    return f"{cluster}:{name}", {
        "nodeGroupName": name,
        "arn": asked.arn("eks", f"nodegroup/{cluster}/{name}/{uuid}"),
        "resources": [{"autoscalingGroups": [{"name": f"eks-{name}-{uuid}"}]}],
        "status": "ACTIVE",
    }


def _addon(asked: Asked) -> Made:
    cluster, addon = asked.inputs.get("clusterName", "cluster"), asked.inputs.get("addonName", asked.name)
    return f"{cluster}:{addon}", {
        "arn": asked.arn("eks", f"addon/{cluster}/{addon}/{asked.uuid()}"),
        "createdAt": CREATED_AT,
        "modifiedAt": CREATED_AT,
    }


def _access_entry(asked: Asked) -> Made:
    cluster, principal = asked.inputs.get("clusterName", "cluster"), str(asked.inputs.get("principalArn", ""))
    entry = f"access-entry/{cluster}/role/{asked.place.account}/{principal.rpartition('/')[2]}/{asked.uuid()}"
    return f"{cluster}:{principal}", {
        "accessEntryArn": asked.arn("eks", entry),
        "createdAt": CREATED_AT,
        "modifiedAt": CREATED_AT,
    }


def _access_policy(asked: Asked) -> Made:
    parts = (str(asked.inputs.get(key, "")) for key in ("clusterName", "principalArn", "policyArn"))
    return "#".join(parts), {"associatedAt": CREATED_AT, "modifiedAt": CREATED_AT}


def _pod_identity(asked: Asked) -> Made:
    id_ = f"a-{asked.hex(17)}"
    cluster = asked.inputs.get("clusterName", "cluster")
    return id_, {
        "associationArn": asked.arn("eks", f"podidentityassociation/{cluster}/{id_}"),
        "associationId": id_,
    }


def _role(asked: Asked) -> Made:
    name = asked.physical()
    path = asked.inputs.get("path", "/")
    return name, {
        "name": name,
        "arn": asked.global_arn("iam", f"role{path}{name}"),
        "uniqueId": f"AROA{asked.upper(17)}",
        "createDate": CREATED_AT,
    }


def _user(asked: Asked) -> Made:
    name = asked.physical()
    path = asked.inputs.get("path", "/")
    arn = asked.global_arn("iam", f"user{path}{name}")
    return name, {"name": name, "arn": arn, "uniqueId": f"AIDA{asked.upper(17)}"}


def _user_policy(asked: Asked) -> Made:
    name = asked.physical()
    return f"{asked.inputs.get('user', 'user')}:{name}", {"name": name}


def _role_policy(asked: Asked) -> Made:
    name = asked.physical()
    return f"{asked.inputs.get('role', 'role')}:{name}", {"name": name}


def _policy(asked: Asked) -> Made:
    name = asked.physical()
    arn = asked.global_arn("iam", f"policy{asked.inputs.get('path', '/')}{name}")
    return arn, {"name": name, "arn": arn, "policyId": f"ANPA{asked.upper(17)}"}


def _policy_attachment(asked: Asked) -> Made:
    return f"{asked.inputs.get('role', 'role')}/{asked.inputs.get('policyArn', '')}", {}


def _instance_profile(asked: Asked) -> Made:
    name = asked.physical()
    return name, {
        "name": name,
        "arn": asked.global_arn("iam", f"instance-profile/{name}"),
        "uniqueId": f"AIPA{asked.upper(17)}",
        "createDate": CREATED_AT,
    }


def _oidc_provider(asked: Asked) -> Made:
    host = str(asked.inputs.get("url", "")).removeprefix("https://")
    arn = asked.global_arn("iam", f"oidc-provider/{host}")
    return arn, {"arn": arn}


def _key(asked: Asked) -> Made:
    id_ = asked.uuid()
    return id_, {"arn": asked.arn("kms", f"key/{id_}"), "keyId": id_}


def _key_alias(asked: Asked) -> Made:
    name = asked.physical() if asked.inputs.get("name") else f"alias/{asked.physical()}"
    target = str(asked.inputs.get("targetKeyId", "")).rpartition("/")[2]
    return name, {
        "name": name,
        "arn": asked.arn("kms", name),
        "targetKeyArn": asked.arn("kms", f"key/{target}"),
    }


def _asg_tag(asked: Asked) -> Made:
    tag = asked.inputs.get("tag") or {}
    return f"{asked.inputs.get('autoscalingGroupName', 'group')},{tag.get('key', 'key')}", {}


MAKERS: Final[dict[str, Maker]] = {
    "aws:autoscaling/tag:Tag": _asg_tag,
    "aws:eks/accessEntry:AccessEntry": _access_entry,
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": _access_policy,
    "aws:eks/addon:Addon": _addon,
    "aws:eks/cluster:Cluster": _cluster,
    "aws:eks/nodeGroup:NodeGroup": _node_group,
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": _pod_identity,
    "aws:iam/instanceProfile:InstanceProfile": _instance_profile,
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": _oidc_provider,
    "aws:iam/policy:Policy": _policy,
    "aws:iam/role:Role": _role,
    "aws:iam/rolePolicy:RolePolicy": _role_policy,
    "aws:iam/user:User": _user,
    "aws:iam/userPolicy:UserPolicy": _user_policy,
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": _policy_attachment,
    "aws:kms/alias:Alias": _key_alias,
    "aws:kms/key:Key": _key,
}
"""How each type is answered."""
