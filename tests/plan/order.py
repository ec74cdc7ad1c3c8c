"""The laws of order: what must exist before a resource is created, and until it is deleted.

The engine creates in the order of dependencies and deletes in the opposite one. An explicit dependency (`depends_on`)
is needed where no input says so, and each has a law here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

import networkx as nx

from ops.plan.model import Plan, Planned
from tests.plan.laws import RELEASE, edges

Related: TypeAlias = "Callable[[Plan, Planned, Planned], bool]"
"""Whether the law applies to this resource and to what it may need."""
_POLICIES: Final = ("aws:iam/rolePolicy:RolePolicy", "aws:iam/rolePolicyAttachment:RolePolicyAttachment")
_WITHOUT_WORK: Final = (
    "aws:iam/instanceProfile:InstanceProfile",
    "aws:eks/podIdentityAssociation:PodIdentityAssociation",
)
"""Types that only refer to a role, and do not act with it."""
_SERVICE: Final = "gcp:projects/service:Service"
_FIRST: Final = ("cloudresourcemanager.googleapis.com", "serviceusage.googleapis.com")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One law: a resource waits for another one, and is deleted before it."""

    name: str
    resource: str
    """The type of the resource, or the beginning of it."""
    needs: tuple[str, ...]
    """The types of the resources that it needs."""
    related: Related
    reason: str
    source: str


def _any(_plan: Plan, _resource: Planned, _needed: Planned) -> bool:
    return True


def _of_an_administrator(_plan: Plan, _resource: Planned, needed: Planned) -> bool:
    return str(needed.inputs["policyArn"]).endswith("AdminPolicy")


def _siblings(_plan: Plan, resource: Planned, needed: Planned) -> bool:
    return resource.parent == needed.parent


def _same_role(plan: Plan, resource: Planned, needed: Planned) -> bool:
    """Both name one role, and the policy does not name the resource itself."""
    acts = resource.type not in (*_POLICIES, *_WITHOUT_WORK) and resource.custom
    return acts and bool(_roles(plan, resource) & _roles(plan, needed)) and resource.urn not in needed.dependencies


def _roles(plan: Plan, resource: Planned) -> set[str]:
    """Return the roles that the inputs of a resource name, also through an instance profile."""
    found = set[str]()
    for urn in {urn for urns in resource.property_dependencies.values() for urn in urns}:
        if ":iam/role:" in urn:
            found.add(urn)
        elif ":iam/instanceProfile:" in urn:
            found |= _roles(plan, next(one for one in plan if one.urn == urn))
    return found


def _to_the_internet(_plan: Plan, resource: Planned, needed: Planned) -> bool:
    return "gatewayId" in needed.inputs and resource.parent == needed.parent


def _below(component: str) -> Related:
    """Return the relation to every resource in components of one type."""

    def related(_plan: Plan, _resource: Planned, needed: Planned) -> bool:
        return f"{component}$" in needed.urn

    return related


def _of_a_chart(chart: str, then: Related = _any) -> Related:
    def related(plan: Plan, resource: Planned, needed: Planned) -> bool:
        return str(resource.inputs.get("chart")).endswith(chart) and then(plan, resource, needed)

    return related


def _for_every_runner(_plan: Plan, resource: Planned, needed: Planned) -> bool:
    return "ScaleSet$" not in needed.urn or resource.parent == needed.parent


def _runs_before(_plan: Plan, resource: Planned, needed: Planned) -> bool:
    """The second command of a component ends what the first one began."""
    return resource.parent == needed.parent and needed.name == f"{resource.name}-end"


def _removal(_plan: Plan, resource: Planned, needed: Planned) -> bool:
    return resource.name.endswith("-removed") and resource.parent == needed.parent


def _first_api(_plan: Plan, resource: Planned, needed: Planned) -> bool:
    return needed.inputs["service"] in _FIRST and resource.inputs["service"] not in _FIRST


def _uses_an_api(_plan: Plan, resource: Planned, _needed: Planned) -> bool:
    return resource.type not in (_SERVICE, "gpu-ci:gcp:Apis")


def _of_its_machine(_plan: Plan, resource: Planned, needed: Planned) -> bool:
    """The rules of a machine's network, and the rights of its account, but not rights on the machine itself."""
    email = resource.inputs.get("serviceAccount", {}).get("email")
    of_account = needed.inputs.get("member") == f"serviceAccount:{email}"
    return "firewall" in needed.type or of_account or "MachineBase$" in needed.urn


ORDERS: Final = (
    Order(
        name="policies-before-the-service-that-uses-the-role",
        resource="aws:",
        needs=_POLICIES,
        related=_same_role,
        reason="it acts with the role: nodes do not join, and a cluster cannot delete its network interfaces",
        source="EKS user guide, “Amazon EKS node IAM role”; Terraform aws_eks_cluster, aws_eks_node_group: depends_on",
    ),
    Order(
        name="route-before-a-nat-gateway",
        resource="aws:ec2/natGateway:NatGateway",
        needs=("aws:ec2/route:Route",),
        related=_to_the_internet,
        reason="without a route to the internet a NAT gateway fails, and only its state says so",
        source="VPC user guide, “Troubleshoot NAT gateways”; Terraform aws_nat_gateway: depends_on",
    ),
    Order(
        name="log-group-before-the-cluster",
        resource="aws:eks/cluster:Cluster",
        needs=("aws:cloudwatch/logGroup:LogGroup",),
        related=_siblings,
        reason="EKS creates a group that never expires, and the declared one then exists already",
        source="Terraform aws_eks_cluster, “Enabling control plane logging”",
    ),
    Order(
        name="network-before-nodes",
        resource="aws:eks/nodeGroup:NodeGroup",
        needs=("aws:eks/addon:Addon",),
        related=_below("gpu-ci:aws:NodeAddOns"),
        reason="a node without the VPC CNI and kube-proxy is not ready, and its group fails after half an hour",
        source="EKS user guide, “Troubleshoot managed node groups”: NodeCreationFailure",
    ),
    Order(
        name="nodes-before-add-ons-that-run-on-them",
        resource="aws:eks/addon:Addon",
        needs=("aws:eks/nodeGroup:NodeGroup",),
        related=lambda _plan, resource, needed: "ClusterAddOns$" in resource.urn and "SystemNodes$" in needed.urn,
        reason="CoreDNS without a node is DEGRADED until the creation times out",
        source="EKS user guide, “Troubleshoot add-ons”: InsufficientNumberOfReplicas",
    ),
    Order(
        name="access-before-objects-in-the-cluster",
        resource="pulumi:providers:kubernetes",
        needs=("aws:eks/accessPolicyAssociation:AccessPolicyAssociation",),
        related=_of_an_administrator,
        reason="without its access entry the deploying role may not create or delete anything in the cluster",
        source="EKS user guide, “Grant access with access entries”",
    ),
    Order(
        name="nodes-and-dns-before-objects-in-the-cluster",
        resource="pulumi:providers:kubernetes",
        needs=("aws:eks/nodeGroup:NodeGroup", "aws:eks/addon:Addon"),
        related=_any,
        reason="pods need nodes and DNS, also those that remove finalizers during a destroy",
        source="Kubernetes, “Finalizers”; measured with ARC 0.14.2: without its controller a scale set never ends",
    ),
    Order(
        name="key-of-the-app-after-its-controller",
        resource="kubernetes:core/v1:Secret",
        needs=(RELEASE,),
        related=_siblings,
        reason="the controller needs the key to remove a scale set from GitHub",
        source="measured with ARC 0.14.2: key and controller deleted, and the scale set stays Terminating",
    ),
    Order(
        name="key-of-the-app-after-its-owner",
        resource="kubernetes:core/v1:Secret",
        needs=("kubernetes:core/v1:ConfigMap",),
        related=_siblings,
        reason="another organisation removes the scale sets with the old key, before the key changes",
        source="measured with ARC 0.14.2: `githubConfigUrl` changed in place",
    ),
    Order(
        name="key-of-the-app-until-scale-sets-are-removed",
        resource="command:local:Command",
        needs=("kubernetes:core/v1:Secret",),
        related=_removal,
        reason="a scale set outlives its release while a job runs, and needs the key until it ends",
        source="measured with ARC 0.14.2: scale set deleted while a job runs",
    ),
    Order(
        name="runner-namespace-before-the-controller",
        resource=RELEASE,
        needs=("kubernetes:core/v1:Namespace",),
        related=_of_a_chart("-scale-set-controller", _siblings),
        reason="a namespace that is deleted before the controller stays Terminating: nothing removes its finalizers",
        source="Kubernetes, “Finalizers”; measured with ARC 0.14.2",
    ),
    Order(
        name="controller-until-scale-sets-are-removed",
        resource=RELEASE,
        needs=("command:local:Command",),
        related=_of_a_chart("/gha-runner-scale-set", lambda _plan, _resource, needed: needed.name.endswith("-removed")),
        reason="only a running controller with its key removes the finalizers of a scale set",
        source="measured with ARC 0.14.2: controller deleted before the scale set",
    ),
    Order(
        name="objects-of-runner-pods-before-scale-sets",
        resource=RELEASE,
        needs=(
            "kubernetes:core/v1:ConfigMap",
            "kubernetes:core/v1:ServiceAccount",
            "kubernetes:networking.k8s.io/v1:NetworkPolicy",
            "kubernetes:rbac.authorization.k8s.io/v1:Role",
            "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding",
        ),
        related=_of_a_chart("/gha-runner-scale-set", _for_every_runner),
        reason="a job may start at once: without the hook it fails, and without the policies it reaches the cluster",
        source="Kubernetes, “ConfigMaps” and “Network Policies”: a pod without its policy accepts all traffic",
    ),
    Order(
        name="permissions-before-the-autoscaler",
        resource=RELEASE,
        needs=("aws:eks/podIdentityAssociation:PodIdentityAssociation", "aws:iam/rolePolicy:RolePolicy"),
        related=lambda _plan, resource, needed: f"{resource.name}" == needed.name and "WorkloadRole$" in needed.urn,
        reason="a pod gets credentials of an association only if it starts after it, and its release waits for the pod",
        source="EKS user guide, “EKS Pod Identities”: considerations",
    ),
    Order(
        name="apis-that-enable-apis",
        resource=_SERVICE,
        needs=(_SERVICE,),
        related=_first_api,
        reason="the provider enables and reads other APIs with them",
        source="Google Cloud, “Enable and disable services”",
    ),
    Order(
        name="apis-before-their-resources",
        resource="gcp:",
        needs=(_SERVICE,),
        related=_uses_an_api,
        reason="a call to an API that is not enabled fails: SERVICE_DISABLED",
        source="Google Cloud, “Troubleshoot API errors”",
    ),
    Order(
        name="apis-before-components-that-use-them",
        resource="gpu-ci:gcp:",
        needs=(_SERVICE,),
        related=_uses_an_api,
        reason="also the commands of a component, and children that a later version adds, call an API",
        source="Google Cloud, “Troubleshoot API errors”",
    ),
    Order(
        name="rules-and-rights-before-a-machine",
        resource="gcp:compute/instance:Instance",
        needs=(
            "gcp:compute/firewall:Firewall",
            "gcp:projects/iAMMember:IAMMember",
            "gcp:secretmanager/secretIamMember:SecretIamMember",
        ),
        related=_of_its_machine,
        reason="the machine registers its runner at its first boot: it reads the key, and nothing else may reach it",
        source="Google Cloud, “Access secrets”; “VPC firewall rules”",
    ),
    Order(
        name="end-of-image-builds-after-the-build",
        resource="command:local:Command",
        needs=("command:local:Command",),
        related=_runs_before,
        reason="a destroy deletes the images after the builder, which may still create one",
        source="measured with the fake Compute Engine",
    ),
    Order(
        name="nodes-and-plugin-before-a-smoke-test",
        resource="kubernetes:batch/v1:Job",
        needs=(RELEASE, "kubernetes:networking.k8s.io/v1:NetworkPolicy"),
        related=lambda _plan, _resource, needed: "DevicePlugin$" in needed.urn or "Autoscaler$" in needed.urn,
        reason="the Job waits for a GPU, which the autoscaler starts and the device plugin offers",
        source="Kubernetes, “Device plugins”",
    ),
)


def pairs(plan: Plan, law: Order) -> Iterator[tuple[str, str]]:
    """Yield the resources to which a law applies, each with one that it needs."""
    needed = [one for one in plan if one.type in law.needs]
    for resource in plan:
        if resource.type.startswith(law.resource):
            yield from (
                (resource.urn, one.urn) for one in needed if one is not resource and law.related(plan, resource, one)
            )


def applied(plan: Plan) -> list[tuple[Order, str, str]]:
    """Return every law with the resources to which it applies."""
    return [(law, *pair) for law in ORDERS for pair in pairs(plan, law)]


def violations(plan: Plan) -> Iterator[str]:
    """Yield each law that a plan does not follow."""
    waits_for = edges(plan)
    for law, urn, needed in applied(plan):
        if not nx.has_path(waits_for, urn, needed):
            yield f"{law.name}: {urn} does not wait for {needed}: {law.reason}"


def explicit(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the dependencies that no input has: the ones of `depends_on`."""
    for resource in plan:
        of_inputs = {urn for urns in resource.property_dependencies.values() for urn in urns}
        yield from ((resource.urn, urn) for urn in resource.dependencies if urn not in of_inputs)
