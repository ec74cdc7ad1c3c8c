"""Rules about permissions in AWS, Google Cloud and Kubernetes: only those that are used."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from gpu_ci.policy.documents import allows, conditions, everywhere, has_principal, of_a_whole_kind, statements
from gpu_ci.policy.inputs import Inputs, document, each, is_true, leaves, part, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

_ADMINISTRATOR: Final = re.compile(
    r":policy/(.*/)?(AdministratorAccess.*|PowerUserAccess|\w*FullAccess|\w*PowerUser|(System|Network|Database)Administrator)$"
)
"""Managed policies of AWS that grant whole services."""
_NEVER: Final = ("iam", "kms", "organizations", "sts")
"""Services of which no statement may allow every action: they grant access to everything else."""
_GRANTS: Final = (
    "iam:AddUserToGroup",
    "iam:AttachRolePolicy",
    "iam:AttachUserPolicy",
    "iam:CreateAccessKey",
    "iam:CreateLoginProfile",
    "iam:CreatePolicyVersion",
    "iam:PassRole",
    "iam:PutRolePolicy",
    "iam:PutUserPolicy",
    "iam:UpdateAssumeRolePolicy",
    "kms:CreateGrant",
    "kms:Decrypt",
    "kms:PutKeyPolicy",
    "secretsmanager:GetSecretValue",
    "sts:AssumeRole",
)
"""Actions that lead to other permissions or to secrets. They need a resource."""
_SHARED: Final = (
    "ec2:AuthorizeSecurityGroupIngress",
    "ec2:RunInstances",
    "ec2:TerminateInstances",
    "ec2:StopInstances",
    "ecr:BatchDeleteImage",
    "s3:DeleteObject",
    "s3:PutObject",
    "s3:PutBucketPolicy",
)
"""Actions on machines and data that belong to others, too. They need a resource or a condition."""
_BASIC_ROLES: Final = frozenset({"roles/owner", "roles/editor"})
_PROJECT_WIDE: Final = re.compile(
    r"roles/(.*[aA]dmin|iam\.serviceAccountTokenCreator|iam\.serviceAccountUser|iam\.workloadIdentityUser)$"
)
"""Roles that are for one resource. On a project, they are for every resource in it."""
_GRANTING: Final = re.compile(
    r".*\.setIamPolicy|iam\.serviceAccounts\.(actAs|getAccessToken|signBlob|signJwt|implicitDelegation)"
    r"|iam\.serviceAccountKeys\.create|iam\.roles\.(create|update)|resourcemanager\.projects\.delete"
)
"""Permissions that grant others."""
_EVERYONE: Final = frozenset(
    {"system:anonymous", "system:authenticated", "system:masters", "system:serviceaccounts", "system:unauthenticated"}
)
_STRONG_VERBS: Final = frozenset({"bind", "escalate", "impersonate"})


def no_administrator_policy(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """No role, user or group has a managed policy that grants whole services."""
    if not type_.startswith(("aws:iam/", "aws:ssoadmin/")):
        return
    for path, value in leaves(inputs):
        # A boundary limits permissions and grants none.
        if isinstance(value, str) and path != "permissionsBoundary" and _ADMINISTRATOR.search(value):
            yield f"{path} grants {value.rpartition('/')[2]}; grant the actions that are used"


def no_unbounded_permission(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """No statement allows every action, everything except a list, or actions that lead to other permissions."""
    for path, statement in statements(type_, inputs):
        for key in ("NotAction", "NotResource"):
            if key in statement:
                yield f"{path} allows everything outside {key}; list what is used"
        if has_principal(statement):
            continue
        for action in texts(statement, "Action"):
            service, _, verb = action.lower().partition(":")
            if service == "*" or (verb == "*" and (service in _NEVER or everywhere(statement))):
                yield f"{path} allows {action}; name the actions that are used"
        # A condition on tags limits a machine, but not a role or a secret.
        shared = _SHARED if everywhere(statement) and not any(conditions(statement)) else ()
        for action in allows(statement, (*(_GRANTS if of_a_whole_kind(statement) else ()), *shared)):
            if not action.endswith(":*") and action != "*":
                yield f"{path} allows {action} on every resource; name the resources"


def no_broad_role(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """No member of a project has a basic role or an administrator's, and no custom role grants permissions."""
    if not type_.startswith("gcp:"):
        return
    wide = type_.startswith(("gcp:projects/", "gcp:folder/", "gcp:organizations/", "gcp:folders/"))
    for role in _roles(inputs):
        if role in _BASIC_ROLES:
            yield f"role is {role}; grant the roles that are used"
        elif wide and _PROJECT_WIDE.match(role):
            yield f"role is {role} on the whole project; grant it on one resource"
    for permission in texts(inputs, "permissions"):
        if _GRANTING.fullmatch(permission):
            yield f"permissions contain {permission}, which grants others; remove it"


def _roles(inputs: Inputs) -> list[str]:
    bindings = each(document(part(inputs, "policyData")), "bindings")
    return [*texts(inputs, "role"), *(role for binding in bindings for role in texts(binding, "role"))]


def no_cluster_administrator(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """No account in the cluster is its administrator, and no role contains everything."""
    if type_.startswith("aws:eks/"):
        policy = str(part(inputs, "policyArn")).rpartition("/")[2]
        if policy in {"AmazonEKSClusterAdminPolicy", "AmazonEKSAdminPolicy"}:
            yield f"policyArn grants {policy}; grant AmazonEKSViewPolicy, or a namespace"
        if "system:masters" in texts(inputs, "kubernetesGroups"):
            yield "kubernetesGroups contains system:masters; use an access policy"
        if is_true(part(inputs, "accessConfig", "bootstrapClusterCreatorAdminPermissions")):
            yield "accessConfig makes the creator an administrator; list the administrators"
    if type_.startswith("kubernetes:rbac"):
        cluster_wide = type_.rpartition(":")[2].startswith("Cluster")
        yield from _binding(inputs, cluster_wide=cluster_wide)
        for rule in each(inputs, "rules"):
            yield from _rule(rule, cluster_wide=cluster_wide)


def _binding(inputs: Inputs, *, cluster_wide: bool) -> Iterator[str]:
    role = part(inputs, "roleRef", "name")
    if role == "cluster-admin" or (role in {"admin", "edit"} and cluster_wide):
        yield f"roleRef is {role}; bind a role with the rules that are used"
    for subject in each(inputs, "subjects"):
        named = str(part(subject, "name"))
        if named in _EVERYONE or named.startswith("system:serviceaccounts:"):
            yield f"subjects contains {named}; name one account"
        elif named == "default" and part(subject, "kind") == "ServiceAccount":
            yield "subjects contains the default account, which every pod of its namespace has; name another"


def _rule(rule: Inputs, *, cluster_wide: bool) -> Iterator[str]:
    verbs, resources = texts(rule, "verbs"), texts(rule, "resources")
    if "*" in verbs:
        yield "rules allow every verb; name the verbs that are used"
    if "*" in resources or "*/*" in resources:
        yield "rules apply to every kind of object; name the kinds that are used"
    for verb in sorted(_STRONG_VERBS & {*verbs}):
        yield f"rules allow {verb}, which leads to every permission; remove it"
    if cluster_wide and "secrets" in resources and {"get", "list", "watch"} & {*verbs}:
        yield "rules allow reading the secrets of every namespace; use a Role in one namespace"
    if {"nodes/proxy", "pods/exec", "serviceaccounts/token"} & {*resources} and cluster_wide:
        yield "rules allow commands or tokens in every namespace; use a Role in one namespace"
