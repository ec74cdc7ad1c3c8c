"""The fake Kubernetes API server of an EKS cluster, with Helm.

Sources: `forceNew` of pulumi-kubernetes 4.34 (`provider/pkg/provider/diff.go`) for replacements; the API server and
Helm 3 for refusals (2026-11). Objects that a chart creates are not modelled, except for scale sets (`arc`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from ops.fakes.aws.eks_rules import ready_nodes
from ops.fakes.aws.names import ACCESS_POLICY, CLUSTER
from ops.fakes.cloud.kinds import Kind
from ops.fakes.cloud.objects import CloudObject, Objects
from ops.fakes.cloud.paths import value_at
from ops.fakes.cloud.request import CREATED_AT, Created, Request
from ops.fakes.kubernetes import arc
from ops.fakes.kubernetes.arc import RELEASE, SECRET, namespace_of

NAMESPACE: Final = "kubernetes:core/v1:Namespace"
BUILT_IN: Final = frozenset({"default", "kube-node-lease", "kube-public", "kube-system"})


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
        delete_first="metadata.name",
        before_create=[_reachable, _namespace_exists],
        before_delete=[_reachable],
    )


def _reachable(cloud: Objects, obj: CloudObject) -> str | None:
    """Refuse a request to a missing cluster, or without access to it."""
    if not obj.caller.cluster.startswith("arn:aws:eks:"):
        return None
    if obj.caller.cluster.rpartition("/")[2] in cloud.outside:
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


def _has_namespace(cloud: Objects, cluster: str, name: str) -> bool:
    return name in BUILT_IN or any(
        one.caller.cluster == cluster and one.at("metadata.name") == name for one in cloud.of(NAMESPACE)
    )


def _namespace_exists(cloud: Objects, obj: CloudObject) -> str | None:
    name = namespace_of(obj)
    if obj.inputs.get("createNamespace") or _has_namespace(cloud, obj.caller.cluster, name):
        return None
    return f'namespaces "{name}" not found'


def _has_a_ready_node(cloud: Objects, release: CloudObject) -> str | None:
    """Refuse a release that waits for its pods in a cluster without a node."""
    if release.inputs.get("skipAwait") or not release.caller.cluster.startswith("arn:aws:eks:"):
        return None
    if ready_nodes(cloud, release.caller.cluster.rpartition("/")[2]):
        return None
    return f'release "{release.at("name")}" failed: timed out waiting for the condition (no node is ready)'


def _holds_no_scale_set(cloud: Objects, namespace: CloudObject) -> str | None:
    """Refuse to delete a namespace with a scale set: the finalizer blocks it."""
    name = namespace.at("metadata.name")
    for held in cloud.of(arc.SET):
        if (held.caller.cluster, namespace_of(held)) == (namespace.caller.cluster, name):
            return (
                f'timed out waiting for the condition: namespace "{name}" is Terminating: some content in the namespace'
                f' has finalizers remaining (scale set "{held.at("metadata.name")}")'
            )
    return None


def _delete_content(cloud: Objects, namespace: CloudObject) -> None:
    cloud.forget_inside(
        namespace.caller.cluster,
        lambda inside: inside.type != NAMESPACE and namespace_of(inside) == namespace.at("metadata.name"),
    )


_SPACE = kind_of(NAMESPACE)
_SECRET = kind_of(SECRET)
TABLE: Final = (
    Kind(
        type=NAMESPACE,
        answer=_object,
        identity=("metadata.name",),
        taken='namespaces "{0}" already exists',
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
        max_lengths={"name": 53},
        slow=True,
        missing="uninstall: Release not loaded: {name}: release: not found",
        before_create=[_reachable, _namespace_exists, arc.has_a_controller, _has_a_ready_node],
        before_delete=[_reachable, arc.uninstall],
        after_create=[arc.install],
        on_update=[arc.change],
    ),
    replace(_SECRET, after_create=[lambda cloud, _: arc.settle(cloud)]),
)
