"""Rules about access: from the internet, with static credentials, and with unlimited permissions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from policy.exposure import exposure
from policy.inputs import Inputs, document, each, is_true, leaves, part, texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_CREDENTIALS: Final = {
    "an AWS access key": re.compile(r"\b(AKIA|ASIA)[A-Z0-9]{16}\b"),
    "a GitHub token": re.compile(r"\b(gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})"),
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "a Google service account key": re.compile(r'"private_key_id"'),
}
_KEY_MAKERS: Final = {
    "aws:iam/accessKey:AccessKey": "a workload uses Pod Identity, a pipeline GitHub's OIDC",
    "gcp:serviceaccount/key:Key": "a workload uses its service account, a pipeline Workload Identity Federation",
}
_DOCUMENTED: Final = frozenset(
    {"aws:iam/policy:Policy", "aws:iam/rolePolicy:RolePolicy", "aws:iam/userPolicy:UserPolicy"}
)
_OPEN_TO_ALL: Final = {
    "kubernetes:networking.k8s.io/v1:Ingress": "an ingress",
    "aws:lb/loadBalancer:LoadBalancer": "a load balancer",
    "gcp:compute/globalForwardingRule:GlobalForwardingRule": "a forwarding rule",
}


def no_ingress_from_everywhere(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """No resource accepts connections from the whole internet."""
    for path, ranges in _ingress(type_, inputs):
        opened = exposure(ranges)
        for everywhere in (*sorted(opened.wide), *(["half of the internet"] if opened.together else [])):
            yield f"{path} grants access to {everywhere}; list the ranges that need access"


def _ingress(type_: str, inputs: Inputs) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield every path of a resource that lists allowed address ranges, with the ranges."""
    if type_ in {"aws:ec2/securityGroup:SecurityGroup", "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup"}:
        for rule in each(inputs, "ingress"):
            yield "ingress", [*texts(rule, "cidrBlocks"), *texts(rule, "ipv6CidrBlocks")]
    elif type_ == "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule":
        yield "the rule", [*texts(inputs, "cidrIpv4"), *texts(inputs, "cidrIpv6")]
    elif type_ == "aws:ec2/securityGroupRule:SecurityGroupRule" and part(inputs, "type") == "ingress":
        yield "the rule", [*texts(inputs, "cidrBlocks"), *texts(inputs, "ipv6CidrBlocks")]
    elif type_ == "gcp:compute/firewall:Firewall":
        yield "sourceRanges", texts(inputs, "sourceRanges") if each(inputs, "allows") else []
    elif type_ == "aws:eks/cluster:Cluster" and part(inputs, "vpcConfig", "endpointPublicAccess") is not False:
        # The default of EKS is the whole internet.
        yield "vpcConfig.publicAccessCidrs", texts(inputs, "vpcConfig", "publicAccessCidrs") or ["0.0.0.0/0"]


def no_public_service(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """No service is public: runners only make outgoing connections."""
    if type_ in _OPEN_TO_ALL and not is_true(part(inputs, "internal")):
        yield f"{_OPEN_TO_ALL[type_]} publishes a service, but runners only make outgoing connections; remove it"
    if type_ == "kubernetes:core/v1:Service" and part(inputs, "spec", "type") in {"LoadBalancer", "NodePort"}:
        yield f"spec.type {part(inputs, 'spec', 'type')} publishes a service; use ClusterIP"


def no_static_credential(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """No resource creates or contains a key that does not expire."""
    if type_ in _KEY_MAKERS:
        yield f"it creates a key that does not expire; {_KEY_MAKERS[type_]}"
    if type_ == "pulumi:providers:aws" and (part(inputs, "accessKey") or part(inputs, "secretKey")):
        yield "the provider has a static key; remove it, so that it uses the credentials of the environment"
    # A credential that must be in the cluster belongs into a Kubernetes Secret.
    searched = {} if type_ == "kubernetes:core/v1:Secret" else inputs
    for path, value in leaves(searched):
        for what, pattern in _CREDENTIALS.items():
            if isinstance(value, str) and pattern.search(value):
                yield f"{path} contains {what}; revoke it, and refer to a secret"


def no_unbounded_permission(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """No role has unlimited permissions."""
    if type_ == "aws:iam/rolePolicyAttachment:RolePolicyAttachment":
        arn = str(part(inputs, "policyArn"))
        if arn.endswith((":policy/AdministratorAccess", ":policy/PowerUserAccess", ":policy/IAMFullAccess")):
            yield f"policyArn grants {arn.rpartition('/')[2]}; grant the actions that are used"
    if type_ in _DOCUMENTED:
        for statement in each(document(part(inputs, "policy")), "Statement"):
            allows = part(statement, "Effect") == "Allow"
            if allows and "*" in texts(statement, "Action") and "*" in texts(statement, "Resource"):
                yield "policy allows every action on every resource; name the actions that are used"
    if type_ == "gcp:projects/iAMMember:IAMMember" and part(inputs, "role") in {"roles/owner", "roles/editor"}:
        yield f"role is {part(inputs, 'role')}; grant the roles that are used"
