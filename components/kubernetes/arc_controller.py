"""The Actions Runner Controller: it makes runners of scale sets, and alone can take a scale set down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pulumi
import pulumi_kubernetes as k8s
from pulumi import Input, Output, ResourceOptions

from components.kubernetes.alerts import SYSTEMS
from components.kubernetes.chart import chart

if TYPE_CHECKING:
    from collections.abc import Mapping

CHART = "oci://ghcr.io/actions/actions-runner-controller-charts/gha-runner-scale-set-controller"
RUNNERS = "arc-runners"
RELEASE = "arc"
SERVICE_ACCOUNT = f"{RELEASE}-gha-rs-controller"
"""What the chart names the controller's account: the release's name with this ending."""
CONTROLLER_RESOURCES = {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}}
APP_SECRET = "github-app"  # noqa: S105 - the name of a Secret, not one


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcControllerArgs:
    """How the controller runs, and as whom it speaks to GitHub."""

    version: str
    log_level: str
    app_id: int
    installation_id: int
    private_key: Input[str]
    """The GitHub App's key in PEM form."""


def controller_values(log_level: str) -> dict[str, Any]:
    """The chart's values."""
    return {
        "replicaCount": 1,
        "flags": {
            "logLevel": log_level,
            "logFormat": "json",
            "watchSingleNamespace": RUNNERS,
            # A changed scale set waits for its running jobs instead of making new runners beside them.
            "updateStrategy": "eventual",
        },
        "metrics": {
            "controllerManagerAddr": ":8080",
            "listenerAddr": ":8080",
            "listenerEndpoint": "/metrics",
        },
        "nodeSelector": {"role": "system"},
        "resources": CONTROLLER_RESOURCES,
    }


class ArcController(pulumi.ComponentResource):
    """The controller, the two namespaces, and the App's key where runners find it."""

    ready: pulumi.Resource
    """A scale set comes after this and is gone before it."""
    runners_namespace: Output[str]
    secret_name: Output[str]

    def __init__(self, name: str, args: ArcControllerArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:kubernetes:ArcController", name, None, opts)
        child = ResourceOptions(parent=self)
        systems = _namespace(f"{name}-systems", SYSTEMS, {}, child)
        runners = _namespace(
            f"{name}-runners",
            RUNNERS,
            {
                "pod-security.kubernetes.io/enforce": "baseline",
                "pod-security.kubernetes.io/warn": "restricted",
            },
            child,
        )
        controller = chart(
            name,
            release=RELEASE,
            chart_name=CHART,
            version=args.version,
            namespace=systems.metadata.apply(lambda metadata: metadata.name or SYSTEMS),
            values=controller_values(args.log_level),
            parent=self,
            # It watches this namespace, and clears the finalizers there.
            after=[runners],
            atomic=False,
        )
        secret = k8s.core.v1.Secret(
            f"{name}-github-app",
            metadata={
                "name": APP_SECRET,
                "namespace": runners.metadata.apply(lambda metadata: metadata.name or RUNNERS),
            },
            string_data={
                "github_app_id": str(args.app_id),
                "github_app_installation_id": str(args.installation_id),
                "github_app_private_key": Output.secret(args.private_key),
            },
            # Gone before the controller, and after every scale set: without the key a scale set cannot sign off at
            # GitHub, and its finalizer never clears.
            opts=ResourceOptions.merge(child, ResourceOptions(depends_on=[controller], delete_before_replace=True)),
        )
        self.ready = secret
        self.runners_namespace = runners.metadata.apply(lambda metadata: metadata.name or RUNNERS)
        self.secret_name = secret.metadata.apply(lambda metadata: metadata.name or APP_SECRET)
        self.register_outputs({"runners_namespace": self.runners_namespace})


def _namespace(name: str, in_cluster: str, labels: Mapping[str, str], opts: ResourceOptions) -> k8s.core.v1.Namespace:
    return k8s.core.v1.Namespace(
        name,
        metadata={"name": in_cluster, "labels": dict(labels)},
        opts=ResourceOptions.merge(opts, ResourceOptions(delete_before_replace=True)),
    )
