"""The EKS add-ons that a cluster can run: versions, prerequisites, roles and pods.

The declaration, the order of creation, the capacity of nodes and the fake EKS all follow from this table.

Versions are as seen in public use in 2026; `aws eks describe-addon-versions --kubernetes-version VERSION` lists those
that EKS offers. Requests are from the manifests of Amazon VPC CNI v1.23 (`config/master/aws-k8s-cni.yaml`),
kube-proxy and aws-ebs-csi-driver (three containers on a node, six in the controller) and from the defaults of CoreDNS
and metrics-server 0.8 (August 2026).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from components.aws.cluster.add_on import AddOnRole, ManagedAddOn
from gpu_ci.knowledge.incomplete import Incomplete
from gpu_ci.knowledge.kubernetes.daemonsets import EVERYWHERE, DaemonSet
from gpu_ci.knowledge.kubernetes.pods import Pod, SystemPods
from gpu_ci.knowledge.kubernetes.quantities import Resources


@dataclass(frozen=True, slots=True, kw_only=True)
class AddOn:
    """One add-on."""

    name: str
    """The name in EKS."""
    versions: Mapping[str, str]
    """Kubernetes minor version to the add-on's version."""
    section: str | None = None
    """The path in the stack file that enables it, for example `monitoring.metrics-server`; None for every cluster."""
    needs_nodes: bool
    """Whether its pods need a node without taints. If so, it is created after the nodes, otherwise before them."""
    role: AddOnRole | None = None
    node_pods: tuple[DaemonSet, ...] = ()
    """Pods on every node."""
    system_pods: tuple[SystemPods, ...] = ()
    """Pods on the system nodes."""
    configuration: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Configuration values; empty for the defaults of EKS."""

    def managed(self, kubernetes: str) -> ManagedAddOn:
        """Return the add-on in its version for a Kubernetes minor version.

        Raises:
            Incomplete: the table has no version.

        """
        if kubernetes not in self.versions:
            problem = f"the add-on {self.name} has no version for Kubernetes {kubernetes}"
            raise Incomplete(problem, f'add "{kubernetes}" to its versions in gpu_ci/knowledge/kubernetes/add_ons.py')
        return ManagedAddOn(
            name=self.name,
            version=self.versions[kubernetes],
            needs_nodes=self.needs_nodes,
            role=self.role,
            configuration=self.configuration,
        )


def _everywhere(name: str, **requests: str) -> DaemonSet:
    return DaemonSet(name=name, pod=Pod(requests=Resources.parse(requests), tolerations=EVERYWHERE))


def _system(name: str, copies: int, **requests: str) -> SystemPods:
    return SystemPods(name=name, pod=Pod(requests=Resources.parse(requests)), copies=copies)


ADD_ONS: Final = (
    AddOn(
        name="eks-pod-identity-agent",
        versions={"1.35": "v1.3.10-eksbuild.3", "1.36": "v1.3.10-eksbuild.3"},
        needs_nodes=False,
        node_pods=(_everywhere("eks-pod-identity-agent"),),
    ),
    AddOn(
        name="vpc-cni",
        versions={"1.35": "v1.21.1-eksbuild.3", "1.36": "v1.22.3-eksbuild.1"},
        needs_nodes=False,
        role=AddOnRole(
            name="vpc-cni",
            service_account="aws-node",
            managed_policy="arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy",
        ),
        node_pods=(_everywhere("aws-node", cpu="50m"),),
        # A string: the add-on refuses a boolean (AWS, "Restrict Pod network traffic", 2026).
        configuration={"enableNetworkPolicy": "true"},
    ),
    AddOn(
        name="kube-proxy",
        versions={"1.35": "v1.35.3-eksbuild.5", "1.36": "v1.36.0-eksbuild.13"},
        needs_nodes=False,
        node_pods=(_everywhere("kube-proxy", cpu="100m"),),
    ),
    AddOn(
        name="coredns",
        versions={"1.35": "v1.13.2-eksbuild.4", "1.36": "v1.14.3-eksbuild.3"},
        needs_nodes=True,
        system_pods=(_system("CoreDNS", 2, cpu="100m", memory="70Mi"),),
    ),
    AddOn(
        name="metrics-server",
        versions={"1.35": "v0.8.1-eksbuild.6", "1.36": "v0.8.1-eksbuild.10"},
        section="monitoring.metrics-server",
        needs_nodes=True,
        system_pods=(_system("metrics-server", 2, cpu="100m", memory="200Mi"),),
    ),
    AddOn(
        name="aws-ebs-csi-driver",
        versions={"1.35": "v1.59.0-eksbuild.1", "1.36": "v1.63.1-eksbuild.1"},
        section="storage",
        needs_nodes=True,
        role=AddOnRole(
            name="ebs",
            service_account="ebs-csi-controller-sa",
            managed_policy="arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy",
        ),
        node_pods=(_everywhere("ebs-csi-node", cpu="30m", memory="120Mi"),),
        system_pods=(_system("the EBS controller", 2, cpu="60m", memory="240Mi"),),
    ),
)
"""Every add-on, in the order of creation. Pods that use Pod Identity start after its agent."""
