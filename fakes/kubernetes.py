"""The fake Kubernetes API server of an EKS cluster, with Helm and the Actions Runner Controller.

Sources: `forceNew` of pulumi-kubernetes 4.34 (`provider/pkg/provider/diff.go`) for replacements; the API server, Helm 3
and actions/actions-runner-controller 0.14 for refusals (2026-11). Objects that a chart creates are not modelled, except
for the finalizer of a scale set, which makes the order of a destroy matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fakes.aws.eks_rules import ready_nodes
from fakes.aws.names import ACCESS_POLICY, CLUSTER
from fakes.kinds import Kind, value_at
from fakes.request import CREATED_AT

if TYPE_CHECKING:
    from fakes.cloud import Cloud
    from fakes.objects import CloudObject
    from fakes.request import Created, Request

NAMESPACE: Final = "kubernetes:core/v1:Namespace"
SECRET: Final = "kubernetes:core/v1:Secret"  # noqa: S105  # a type token
RELEASE: Final = "kubernetes:helm.sh/v3:Release"
BUILT_IN: Final = frozenset({"default", "kube-node-lease", "kube-public", "kube-system"})
CONTROLLER: Final = "gha-runner-scale-set-controller"
SCALE_SET: Final = "gha-runner-scale-set"
# ConfigMaps change in place: the provider of the program has `enableConfigMapMutable`.
_REPLACED_BY: Final = {
    "Secret": ("data", "stringData", "type"),
    "StorageClass": ("parameters", "provisioner"),
    "ClusterRoleBinding": ("roleRef",),
    "RoleBinding": ("roleRef",),
    "Deployment": ("spec.selector",),
    "DaemonSet": ("spec.selector",),
    "StatefulSet": ("spec.selector", "spec.serviceName", "spec.volumeClaimTemplates"),
    "Job": ("spec.completions", "spec.parallelism", "spec.selector", "spec.template"),
    "PersistentVolumeClaim": ("spec",),
    "Service": ("spec.clusterIP",),
}


def _object(request: Request) -> Created:
    """Return the answer for any object of the API: an id of namespace and name, and completed metadata."""
    metadata: dict[str, Any] = dict(request.inputs.get("metadata") or {})
    metadata.setdefault("name", f"{request.name}-{request.hex(8)}")
    metadata |= {"uid": request.uuid(), "resourceVersion": "1", "creationTimestamp": CREATED_AT}
    namespace = metadata.get("namespace")
    id_ = f"{namespace}/{metadata['name']}" if namespace else metadata["name"]
    return str(id_), {"metadata": metadata}


def _release(request: Request) -> Created:
    name, namespace = request.physical(), request.inputs.get("namespace", "default")
    status = {
        "name": name,
        "namespace": namespace,
        "chart": request.inputs.get("chart", ""),
        "version": request.inputs.get("version", ""),
        "revision": 1,
        "status": "deployed",
    }
    return f"{namespace}/{name}", {"name": name, "namespace": namespace, "status": status}


def kind_of(type_: str) -> Kind:
    """Return the row of any object of the API."""
    noun = type_.rpartition(":")[2]
    plural = f"{noun.lower()}es" if noun.endswith(("s", "x")) else f"{noun.lower()}s"
    return Kind(
        type=type_,
        answer=_object,
        identity=("metadata.namespace", "metadata.name"),
        taken=f'{plural} "{{1}}" already exists',
        replaced_by=frozenset({"metadata.name", "metadata.namespace", *_REPLACED_BY.get(noun, ())}),
        delete_first="metadata.name",
        before_create=[_reachable, _namespace_exists],
        before_delete=[_reachable],
    )


def _reachable(cloud: Cloud, obj: CloudObject) -> str | None:
    """Refuse a request to a missing cluster, or without access to it."""
    if not obj.caller.cluster.startswith("arn:aws:eks:"):
        return None
    cluster = next((one for one in cloud.of(CLUSTER) if one.outputs.get("arn") == obj.caller.cluster), None)
    if cluster is None:
        return f"configured Kubernetes cluster is unreachable: no such host ({obj.caller.cluster} does not exist)"
    creator_is_admin = value_at("accessConfig.bootstrapClusterCreatorAdminPermissions", cluster.inputs)
    if "accessConfig" not in cluster.inputs or creator_is_admin:
        return None
    if any(item.inputs.get("clusterName") == cluster.id for item in cloud.of(ACCESS_POLICY)):
        return None
    return "Unauthorized: the server has asked for the client to provide credentials (no access entry grants access)"


def _namespace_of(obj: CloudObject) -> str:
    path = "namespace" if obj.type == RELEASE else "metadata.namespace"
    return str(value_at(path, obj.inputs) or "default")


def _has_namespace(cloud: Cloud, cluster: str, name: str) -> bool:
    return name in BUILT_IN or any(
        one.caller.cluster == cluster and one.at("metadata.name") == name for one in cloud.of(NAMESPACE)
    )


def _namespace_exists(cloud: Cloud, obj: CloudObject) -> str | None:
    name = _namespace_of(obj)
    if obj.inputs.get("createNamespace") or _has_namespace(cloud, obj.caller.cluster, name):
        return None
    return f'namespaces "{name}" not found'


def _has_a_ready_node(cloud: Cloud, release: CloudObject) -> str | None:
    """Refuse a release that waits for its pods in a cluster without a node."""
    if release.inputs.get("skipAwait") or not release.caller.cluster.startswith("arn:aws:eks:"):
        return None
    if ready_nodes(cloud, release.caller.cluster.rpartition("/")[2]):
        return None
    return f'release "{release.at("name")}" failed: timed out waiting for the condition (no node is ready)'


def _chart(release: CloudObject) -> str:
    return str(release.inputs.get("chart")).rpartition("/")[2]


def _has_a_controller(cloud: Cloud, release: CloudObject) -> str | None:
    """Refuse a scale set without its controller, whose chart installs the custom resource definitions."""
    if _chart(release) != SCALE_SET or _controllers(cloud, release):
        return None
    return (
        f'unable to build kubernetes objects from release manifest: resource mapping not found for "{release.name}": '
        'no matches for kind "AutoscalingRunnerSet" in version "actions.github.com/v1alpha1", ensure CRDs are installed'
    )


def _controllers(cloud: Cloud, release: CloudObject) -> list[CloudObject]:
    return [
        one
        for one in cloud.of(RELEASE)
        if one.caller.cluster == release.caller.cluster and _chart(one) == CONTROLLER and one.phase == "ready"
    ]


def _finalizer_is_removed(cloud: Cloud, release: CloudObject) -> str | None:
    """Refuse to delete a scale set unless a running controller with the GitHub App key can remove its finalizer."""
    if _chart(release) != SCALE_SET:
        return None
    lost = []
    if not _controllers(cloud, release) or not ready_nodes(cloud, release.caller.cluster.rpartition("/")[2]):
        lost.append("no controller is running")
    named = value_at("values.githubConfigSecret", release.inputs)
    secrets = [
        one
        for one in cloud.of(SECRET)
        if one.caller.cluster == release.caller.cluster and one.at("metadata.name") == named
    ]
    if isinstance(named, str) and not any(_namespace_of(one) == _namespace_of(release) for one in secrets):
        lost.append(f"its secret {named} is missing")
    if not lost:
        return None
    return (
        f'uninstall of release "{release.at("name")}" failed: timed out waiting for the condition: '
        "AutoscalingRunnerSet still has the finalizer autoscalingrunnerset.actions.github.com/finalizer "
        f"({' and '.join(lost)})"
    )


def _holds_no_scale_set(cloud: Cloud, namespace: CloudObject) -> str | None:
    """Refuse to delete a namespace with a scale set: the finalizer blocks it."""
    for release in cloud.of(RELEASE):
        inside = release.caller.cluster == namespace.caller.cluster and _namespace_of(release) == namespace.at(
            "metadata.name"
        )
        if inside and _chart(release) == SCALE_SET:
            return (
                f'timed out waiting for the condition: namespace "{namespace.at("metadata.name")}" is Terminating: '
                f'some content in the namespace has finalizers remaining (scale set "{release.at("name")}")'
            )
    return None


def _delete_content(cloud: Cloud, namespace: CloudObject) -> None:
    cloud.forget_inside(
        namespace.caller.cluster,
        lambda inside: inside.type != NAMESPACE and _namespace_of(inside) == namespace.at("metadata.name"),
    )


_SPACE = kind_of(NAMESPACE)
TABLE: Final = (
    Kind(
        type=NAMESPACE,
        answer=_object,
        identity=("metadata.name",),
        taken='namespaces "{0}" already exists',
        replaced_by=_SPACE.replaced_by,
        delete_first=_SPACE.delete_first,
        max_lengths={"metadata.name": 63},
        before_create=[_reachable],
        before_delete=[_reachable, _holds_no_scale_set],
        after_delete=[_delete_content],
    ),
    Kind(
        type=RELEASE,
        answer=_release,
        identity=("namespace", "name"),
        taken="cannot re-use a name that is still in use ({0}/{1})",
        replaced_by=frozenset({"name", "namespace"}),
        max_lengths={"name": 53},
        slow=True,
        before_create=[_reachable, _namespace_exists, _has_a_controller, _has_a_ready_node],
        before_delete=[_reachable, _finalizer_is_removed],
    ),
)
