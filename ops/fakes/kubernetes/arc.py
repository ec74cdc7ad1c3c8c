"""The fake Actions Runner Controller: the life of a scale set while its release, its key or its controller changes.

Source: the controller and Helm 3, observed with ARC 0.13.1 and 0.14.2 (2026-11). Not modelled: runner pods, and the
minor version of the controller. An App's installation belongs to one owner, so another installation in the Secret
cannot remove a scale set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ops.fakes.aws.eks_rules import ready_nodes
from ops.fakes.cloud.objects import CloudObject, Objects
from ops.fakes.cloud.paths import value_at

SECRET: Final = "kubernetes:core/v1:Secret"  # noqa: S105  # a type token
RELEASE: Final = "kubernetes:helm.sh/v3:Release"
SET: Final = "kubernetes:actions.github.com/v1alpha1:AutoscalingRunnerSet"
"""A scale set in the cluster. It is an object of its own, because it can outlive its release."""
CONTROLLER: Final = "gha-runner-scale-set-controller"
SCALE_SET: Final = "gha-runner-scale-set"
_DEFAULT_TIMEOUT: Final = 300
"""Seconds that Helm waits unless the release states a timeout."""


def namespace_of(obj: CloudObject) -> str:
    """Return the namespace of a release or of any other object."""
    path = "namespace" if obj.type == RELEASE else "metadata.namespace"
    return str(value_at(path, obj.inputs) or "default")


def chart_of(release: CloudObject) -> str:
    """Return the name of a release's chart."""
    return str(release.inputs.get("chart")).rpartition("/")[2]


def has_a_controller(cloud: Objects, release: CloudObject) -> str | None:
    """Refuse a scale set without its controller, whose chart installs the custom resource definitions."""
    if chart_of(release) != SCALE_SET or _controllers(cloud, release):
        return None
    return (
        f'unable to build kubernetes objects from release manifest: resource mapping not found for "{release.name}": '
        'no matches for kind "AutoscalingRunnerSet" in version "actions.github.com/v1alpha1", ensure CRDs are installed'
    )


def install(cloud: Objects, release: CloudObject) -> None:
    """Install a release."""
    change(cloud, release, release.inputs)


def change(cloud: Objects, release: CloudObject, inputs: Mapping[str, Any]) -> None:
    """Create the scale set of a release, or change it. Helm patches a terminating one and reports success."""
    if chart_of(release) != SCALE_SET:
        settle(cloud)
        return
    found = find(cloud, str(release.at("name")))
    if found is None:
        metadata = {"name": release.at("name"), "namespace": namespace_of(release)}
        found = cloud.put(SET, str(release.at("name")), {"metadata": metadata}, release.caller)
        _set(found, secret=_secret_name(release), installation=_installation(cloud, release), job_minutes=0)
    idle = int(value_at("values.minRunners", inputs) or 0)
    # `eventual` deletes the listener until all runners have ended. An idle runner never ends.
    waits = _strategy(cloud, release) == "eventual" and "listener" in found.outputs
    _set(found, idle=idle, listener=not (waits and (idle or found.outputs["job_minutes"])))


def uninstall(cloud: Objects, release: CloudObject) -> str | None:
    """Remove the scale set of a release, or refuse; after the timeout Helm forgets the release all the same."""
    found = find(cloud, str(release.at("name"))) if chart_of(release) == SCALE_SET else None
    if found is None:
        return None
    _set(found, terminating=True, listener=False)
    if found.outputs["job_minutes"] * 60 <= int(release.inputs.get("timeout") or _DEFAULT_TIMEOUT):
        _set(found, job_minutes=0)
    settle(cloud)
    if find(cloud, found.name) is None:
        return None
    _forget(cloud, release)
    reasons = " and ".join(_obstacles(cloud, found))
    return (
        f'uninstall of release "{found.name}" failed: context deadline exceeded: '
        f"AutoscalingRunnerSet still has the finalizer autoscalingrunnerset.actions.github.com/finalizer ({reasons})"
    )


def settle(cloud: Objects) -> None:
    """Remove the terminating scale sets whose finalizers the controller can remove now."""
    for found in cloud.of(SET):
        if found.outputs.get("terminating") and not _obstacles(cloud, found):
            _forget(cloud, found)


def find(cloud: Objects, name: str) -> CloudObject | None:
    """Return a scale set by its name."""
    return next((one for one in cloud.of(SET) if one.at("metadata.name") == name), None)


def session_problem(cloud: Objects, name: str) -> str | None:
    """Return the reason that a scale set's listener has no session at GitHub; None if it has one."""
    found = find(cloud, name)
    if found is None:
        return f"{name} is not in the cluster"
    if found.outputs.get("terminating"):
        return f"{name} is still terminating"
    secret = _secret(cloud, found)
    if secret is not None and secret.outputs.get("withdrawn"):
        return f"GitHub rejects the key of {name}"
    return None if found.outputs["listener"] else f"{name} has no listener"


def remaining_problem(cloud: Objects) -> str | None:
    """Return the error of the check that no scale set is left."""
    names = sorted(str(one.at("metadata.name")) for one in cloud.of(SET))
    return f"scale sets are still terminating: {', '.join(names)}" if names else None


def _obstacles(cloud: Objects, found: CloudObject) -> list[str]:
    """Return the reasons that the finalizers of a terminating scale set stay."""
    reasons = []
    if found.outputs["job_minutes"]:
        reasons.append("a job is running")
    inside_eks, _, cluster = found.caller.cluster.rpartition("/")
    if not _controllers(cloud, found) or (inside_eks and not ready_nodes(cloud, cluster)):
        reasons.append("no controller is running")
    secret = _secret(cloud, found)
    if found.outputs["secret"] is None:
        return reasons
    if secret is None:
        reasons.append(f"its secret {found.outputs['secret']} is missing")
    elif secret.outputs.get("withdrawn"):
        reasons.append("GitHub rejects its key")
    elif value_at("stringData.github_app_installation_id", secret.inputs) != found.outputs["installation"]:
        reasons.append("its secret has the key of another installation")
    return reasons


def _controllers(cloud: Objects, inside: CloudObject) -> list[CloudObject]:
    return [
        one
        for one in cloud.of(RELEASE)
        if one.caller.cluster == inside.caller.cluster and chart_of(one) == CONTROLLER and one.phase == "ready"
    ]


def _strategy(cloud: Objects, release: CloudObject) -> str:
    stated = (value_at("values.flags.updateStrategy", one.inputs) for one in _controllers(cloud, release))
    return str(next(stated, None) or "immediate")


def _secret_name(release: CloudObject) -> str | None:
    named = value_at("values.githubConfigSecret", release.inputs)
    return named if isinstance(named, str) else None


def _installation(cloud: Objects, release: CloudObject) -> Any:
    named = _secret_name(release)
    for one in cloud.of(SECRET):
        if one.caller.cluster == release.caller.cluster and one.at("metadata.name") == named:
            return value_at("stringData.github_app_installation_id", one.inputs)
    return None


def _secret(cloud: Objects, found: CloudObject) -> CloudObject | None:
    for one in cloud.of(SECRET):
        same = (one.caller.cluster, namespace_of(one)) == (found.caller.cluster, namespace_of(found))
        if same and one.at("metadata.name") == found.outputs["secret"]:
            return one
    return None


def _forget(cloud: Objects, obj: CloudObject) -> None:
    cloud.forget_inside(obj.caller.cluster, lambda one: one is obj)


def _set(obj: CloudObject, **values: Any) -> None:
    obj.outputs = {**obj.outputs, **values}
