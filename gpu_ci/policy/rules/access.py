"""Rules about access from the internet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpu_ci.policy.exposure import exposure
from gpu_ci.policy.inputs import Inputs, each, is_true, maps, part, texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_OPEN_TO_ALL: Final = {
    "aws:alb/loadBalancer:LoadBalancer": "a load balancer",
    "aws:elb/loadBalancer:LoadBalancer": "a load balancer",
    "aws:lb/loadBalancer:LoadBalancer": "a load balancer",
    "gcp:compute/globalForwardingRule:GlobalForwardingRule": "a forwarding rule",
    "kubernetes:gateway.networking.k8s.io/v1:Gateway": "a gateway",
    "kubernetes:networking.k8s.io/v1:Ingress": "an ingress",
}
_GROUPS: Final = frozenset({"aws:ec2/defaultSecurityGroup:DefaultSecurityGroup", "aws:ec2/securityGroup:SecurityGroup"})
_ANYWHERE: Final = "0.0.0.0/0"
_PORTS_OF_PEOPLE: Final = (22, 3389)
"""SSH and RDP."""


def no_ingress_from_everywhere(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """No resource accepts connections from the whole internet."""
    for path, ranges in _ingress(type_, inputs):
        opened = exposure(ranges)
        for everywhere in (*sorted(opened.wide), *(["half of the internet"] if opened.together else [])):
            yield f"{path} grants access to {everywhere}; list the ranges that need access"


def _ingress(type_: str, inputs: Inputs) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield every path of a resource that lists allowed address ranges, with the ranges."""
    if type_ in _GROUPS:
        for rule in each(inputs, "ingress"):
            yield "ingress", _ranges_of_aws(rule)
    elif type_ == "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule" or (
        type_ == "aws:ec2/securityGroupRule:SecurityGroupRule" and part(inputs, "type") == "ingress"
    ):
        yield "the rule", _ranges_of_aws(inputs)
    elif type_ == "aws:ec2/managedPrefixList:ManagedPrefixList":
        yield "entries", [range_ for entry in each(inputs, "entries") for range_ in texts(entry, "cidr")]
    elif type_ == "aws:ec2/networkAclRule:NetworkAclRule" and _for_people(inputs):
        yield "the rule", [*texts(inputs, "cidrBlock"), *texts(inputs, "ipv6CidrBlock")]
    elif type_ == "gcp:compute/firewall:Firewall" and part(inputs, "direction") != "EGRESS" and each(inputs, "allows"):
        narrowed = any(texts(inputs, key) for key in ("sourceTags", "sourceServiceAccounts"))
        # The default of Google Cloud is the whole internet.
        yield "sourceRanges", texts(inputs, "sourceRanges") or ([] if narrowed else [_ANYWHERE])
    elif type_ == "aws:eks/cluster:Cluster" and part(inputs, "vpcConfig", "endpointPublicAccess") is not False:
        # The default of EKS is the whole internet.
        yield "vpcConfig.publicAccessCidrs", texts(inputs, "vpcConfig", "publicAccessCidrs") or [_ANYWHERE]


def _ranges_of_aws(rule: Inputs) -> list[str]:
    """Return the ranges of a rule of a security group. A rule without any source is read as open."""
    ranges = [range_ for key in ("cidrBlocks", "ipv6CidrBlocks", "cidrIpv4", "cidrIpv6") for range_ in texts(rule, key)]
    others = (
        "prefixListId",
        "prefixListIds",
        "referencedSecurityGroupId",
        "securityGroups",
        "self",
        "sourceSecurityGroupId",
    )
    return ranges or ([] if any(part(rule, key) for key in others) else [_ANYWHERE])


def _for_people(inputs: Inputs) -> bool:
    """Return True if an allowing rule of a network ACL covers SSH or RDP from outside."""
    if is_true(part(inputs, "egress")) or str(part(inputs, "ruleAction")).lower() != "allow":
        return False
    first, last = part(inputs, "fromPort"), part(inputs, "toPort")
    if not isinstance(first, (int, float)) or not isinstance(last, (int, float)):
        return False
    return any(first <= port <= last for port in _PORTS_OF_PEOPLE)


def no_public_service(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """No service is public: runners only make outgoing connections."""
    if type_ in _OPEN_TO_ALL and not is_true(part(inputs, "internal")):
        yield f"{_OPEN_TO_ALL[type_]} publishes a service, but runners only make outgoing connections; remove it"
    if type_ == "kubernetes:core/v1:Service" and part(inputs, "spec", "type") in {"LoadBalancer", "NodePort"}:
        yield f"spec.type {part(inputs, 'spec', 'type')} publishes a service; use ClusterIP"
    if type_.startswith("kubernetes:helm.sh/"):
        for path, inside in maps(part(inputs, "values"), "values."):
            if path.endswith("ervice.") and part(inside, "type") in {"LoadBalancer", "NodePort"}:
                yield f"{path}type {part(inside, 'type')} publishes a service; use ClusterIP"
            if path.endswith("ingress.") and is_true(part(inside, "enabled")):
                yield f"{path}enabled publishes a service; remove it"
    if type_.startswith("gcp:compute/") and str(part(inputs, "loadBalancingScheme")).startswith("EXTERNAL"):
        yield "loadBalancingScheme publishes a service; use INTERNAL"


def network_policies_have_peers(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """No network policy allows every connection: a rule without peers is for everyone."""
    if type_ != "kubernetes:networking.k8s.io/v1:NetworkPolicy":
        return
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for rule in each(inputs, "spec", direction):
            if not each(rule, peers) and not each(rule, "ports"):
                yield f"spec.{direction} allows every connection; name the peers and ports"
