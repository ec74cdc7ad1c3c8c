"""The connections that pods of the Actions Runner Controller may make. Everything else is refused.

The network add-on enforces these policies because its configuration has `enableNetworkPolicy`. The kubelet of a node
always reaches the pods of that node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any, Final

import pulumi
import pulumi_kubernetes as k8s
from pulumi import Input, ResourceOptions

from components.kubernetes.arc.scale_set_values import USES_KUBERNETES

HTTPS: Final = 443
METRICS: Final = 8080
"""The port of the metrics of the controller and the listeners."""
ANYWHERE: Final = "0.0.0.0/0"
LINK_LOCAL: Final = "169.254.0.0/16"
"""The addresses of instance metadata and of the agent of Pod Identity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPoliciesArgs:
    """The namespaces and the address ranges of the cluster."""

    runners_namespace: Input[str]
    """The namespace of the runners."""
    systems_namespace: Input[str]
    """The namespace of the controller and the listeners."""
    jobs_namespace: Input[str] | None = None
    """The namespace of jobs with a pod of their own, if there are any."""
    nodes: IPv4Network
    """The range of the nodes, the pods, and the interfaces of the Kubernetes API."""
    services: IPv4Network
    """The range of the services in the cluster. The first address is that of the Kubernetes API."""
    ports: Sequence[int]
    """TCP ports on which runners and jobs reach addresses outside the cluster."""


class NetworkPolicies(pulumi.ComponentResource):
    """Policies of the namespaces. No policy allows a connection between two jobs."""

    all: Sequence[pulumi.Resource]
    """Scale sets depend on these, so that no job runs without them."""

    def __init__(self, name: str, args: NetworkPoliciesArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:kubernetes:NetworkPolicies", name, None, opts)
        child = ResourceOptions(parent=self, delete_before_replace=True)
        outside = {"ip_block": {"cidr": ANYWHERE, "except_": [str(args.nodes), str(args.services), LINK_LOCAL]}}
        api = [{"ip_block": {"cidr": str(block)}} for block in (args.nodes, f"{args.services[1]}/32")]
        untrusted = {"runners": args.runners_namespace}
        if args.jobs_namespace is not None:
            untrusted["jobs"] = args.jobs_namespace
        self.all = [
            *(
                _policy(
                    f"{name}-{who}",
                    namespace,
                    {},
                    egress=[_DNS, {"to": [outside], "ports": _tcp(args.ports)}],
                    opts=child,
                )
                for who, namespace in untrusted.items()
            ),
            # A runner whose jobs have pods of their own creates them through the Kubernetes API.
            _policy(
                f"{name}-job-creators",
                args.runners_namespace,
                USES_KUBERNETES,
                egress=[{"to": api, "ports": _tcp([HTTPS])}],
                opts=child,
            ),
            # The controller and the listeners call GitHub and the Kubernetes API.
            _policy(
                f"{name}-systems",
                args.systems_namespace,
                {},
                egress=[
                    _DNS,
                    {"to": [{"ip_block": {"cidr": ANYWHERE, "except_": [LINK_LOCAL]}}], "ports": _tcp([HTTPS])},
                ],
                ingress=[{"from_": [{"namespace_selector": {}}], "ports": _tcp([METRICS])}],
                opts=child,
            ),
        ]
        self.register_outputs({})


_DNS: Final[Mapping[str, Any]] = {
    "to": [
        {
            "namespace_selector": {"match_labels": {"kubernetes.io/metadata.name": "kube-system"}},
            "pod_selector": {"match_labels": {"k8s-app": "kube-dns"}},
        }
    ],
    "ports": [{"protocol": protocol, "port": 53} for protocol in ("UDP", "TCP")],
}


def _tcp(ports: Sequence[int]) -> list[dict[str, Any]]:
    return [{"protocol": "TCP", "port": port} for port in ports]


def _policy(
    name: str,
    namespace: Input[str],
    labels: Mapping[str, str],
    *,
    egress: Sequence[Mapping[str, Any]],
    ingress: Sequence[Mapping[str, Any]] = (),
    opts: ResourceOptions,
) -> k8s.networking.v1.NetworkPolicy:
    """Declare a policy that refuses every other connection of the pods with these labels; no label selects all."""
    spec: Any = {
        "pod_selector": {"match_labels": dict(labels)} if labels else {},
        "policy_types": ["Ingress", "Egress"],
        "ingress": [dict(rule) for rule in ingress],
        "egress": [dict(rule) for rule in egress],
    }
    return k8s.networking.v1.NetworkPolicy(name, metadata={"name": name, "namespace": namespace}, spec=spec, opts=opts)
