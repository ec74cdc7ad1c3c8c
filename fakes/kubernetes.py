"""What a Kubernetes API server, Helm and the Actions Runner Controller know, on an EKS cluster.

What replaces an object is `forceNew` of pulumi-kubernetes 4.34 (`provider/pkg/provider/diff.go`); refusals and their
words are the API server's, Helm 3's and those of actions/actions-runner-controller 0.14 (as of 2026-11). What a chart
makes inside the cluster is not modelled, save for a scale set's finalizer, which is why the order of a destroy matters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fakes.aws.cluster_checks import ready_nodes
from fakes.aws.names import ACCESS_POLICY, CLUSTER
from fakes.kinds import Kind, value_at

if TYPE_CHECKING:
    from fakes.cloud import Cloud
    from fakes.objects import Thing

NAMESPACE: Final = "kubernetes:core/v1:Namespace"
SECRET: Final = "kubernetes:core/v1:Secret"  # noqa: S105  # a type token
RELEASE: Final = "kubernetes:helm.sh/v3:Release"
BUILT_IN: Final = frozenset({"default", "kube-node-lease", "kube-public", "kube-system"})
CONTROLLER: Final = "gha-runner-scale-set-controller"
SCALE_SET: Final = "gha-runner-scale-set"
_REPLACED_BY: Final = {
    "ConfigMap": ("binaryData", "data"),
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


def kind_of(type_: str) -> Kind:
    """What is known of any object of the API."""
    noun = type_.rpartition(":")[2]
    plural = f"{noun.lower()}es" if noun.endswith(("s", "x")) else f"{noun.lower()}s"
    return Kind(
        type=type_,
        identity=("metadata.namespace", "metadata.name"),
        taken=f'{plural} "{{1}}" already exists',
        replaced_by=frozenset({"metadata.name", "metadata.namespace", *_REPLACED_BY.get(noun, ())}),
        delete_first="metadata.name",
        before_create=[_reachable, _namespace_exists],
        before_delete=[_reachable],
    )


def _reachable(cloud: Cloud, thing: Thing) -> str | None:
    """The API answers where there is a cluster, and whoever asks has been let in."""
    if not thing.caller.cluster.startswith("arn:aws:eks:"):
        return None
    cluster = next((one for one in cloud.of(CLUSTER) if one.outputs.get("arn") == thing.caller.cluster), None)
    if cluster is None:
        return f"configured Kubernetes cluster is unreachable: no such host ({thing.caller.cluster} does not exist)"
    maker_is_in = value_at("accessConfig.bootstrapClusterCreatorAdminPermissions", cluster.inputs)
    if "accessConfig" not in cluster.inputs or maker_is_in:
        return None
    if any(item.inputs.get("clusterName") == cluster.id for item in cloud.of(ACCESS_POLICY)):
        return None
    return "Unauthorized: the server has asked for the client to provide credentials (no access entry lets anybody in)"


def _namespace_of(thing: Thing) -> str:
    path = "namespace" if thing.type == RELEASE else "metadata.namespace"
    return str(value_at(path, thing.inputs) or "default")


def _has_namespace(cloud: Cloud, cluster: str, name: str) -> bool:
    return name in BUILT_IN or any(
        one.caller.cluster == cluster and one.at("metadata.name") == name for one in cloud.of(NAMESPACE)
    )


def _namespace_exists(cloud: Cloud, thing: Thing) -> str | None:
    name = _namespace_of(thing)
    if thing.inputs.get("createNamespace") or _has_namespace(cloud, thing.caller.cluster, name):
        return None
    return f'namespaces "{name}" not found'


def _somewhere_to_run(cloud: Cloud, release: Thing) -> str | None:
    """Helm waits for what it started; without a node it waits for nothing."""
    if release.inputs.get("skipAwait") or not release.caller.cluster.startswith("arn:aws:eks:"):
        return None
    if ready_nodes(cloud, release.caller.cluster.rpartition("/")[2]):
        return None
    return f'release "{release.at("name")}" failed: timed out waiting for the condition (no node is ready)'


def _chart(release: Thing) -> str:
    return str(release.inputs.get("chart")).rpartition("/")[2]


def _controller_is_there(cloud: Cloud, release: Thing) -> str | None:
    """The scale set's chart looks its controller up and fails without it; its resources are the controller's."""
    if _chart(release) != SCALE_SET or _controllers(cloud, release):
        return None
    return (
        f'unable to build kubernetes objects from release manifest: resource mapping not found for "{release.name}": '
        'no matches for kind "AutoscalingRunnerSet" in version "actions.github.com/v1alpha1", ensure CRDs are installed'
    )


def _controllers(cloud: Cloud, release: Thing) -> list[Thing]:
    return [
        one
        for one in cloud.of(RELEASE)
        if one.caller.cluster == release.caller.cluster and _chart(one) == CONTROLLER and one.phase == "ready"
    ]


def _sign_off(cloud: Cloud, release: Thing) -> str | None:
    """Only a running controller that holds the key takes a scale set's finalizer off."""
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
        lost.append(f"its secret {named} is gone")
    if not lost:
        return None
    return (
        f'uninstall of release "{release.at("name")}" failed: timed out waiting for the condition: '
        "AutoscalingRunnerSet still has the finalizer autoscalingrunnerset.actions.github.com/finalizer "
        f"({' and '.join(lost)})"
    )


def _nothing_waits_inside(cloud: Cloud, namespace: Thing) -> str | None:
    """A namespace takes what it holds along, but for what waits for a finalizer."""
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


def _takes_all_along(cloud: Cloud, namespace: Thing) -> None:
    cloud.forget_inside(
        namespace.caller.cluster,
        lambda thing: thing.type != NAMESPACE and _namespace_of(thing) == namespace.at("metadata.name"),
    )


_SPACE = kind_of(NAMESPACE)
KINDS: Final = (
    Kind(
        type=NAMESPACE,
        identity=("metadata.name",),
        taken='namespaces "{0}" already exists',
        replaced_by=_SPACE.replaced_by,
        delete_first=_SPACE.delete_first,
        lengths={"metadata.name": 63},
        before_create=[_reachable],
        before_delete=[_reachable, _nothing_waits_inside],
        after_delete=[_takes_all_along],
    ),
    Kind(
        type=RELEASE,
        identity=("namespace", "name"),
        taken="cannot re-use a name that is still in use ({0}/{1})",
        replaced_by=frozenset({"name", "namespace"}),
        lengths={"name": 53},
        slow=True,
        before_create=[_reachable, _namespace_exists, _controller_is_there, _somewhere_to_run],
        before_delete=[_reachable, _sign_off],
    ),
)
"""Every type that is not like any other."""
