"""The Actions Runner Controller: it creates the runners of scale sets, and is needed to delete a scale set."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_command as command
import pulumi_kubernetes as k8s
from pulumi import Input, Output, ResourceOptions

from components.kubernetes.arc.arc_controller_values import controller_values
from components.kubernetes.arc_check import COMMAND, KUBECONFIG, SHELL
from components.kubernetes.chart import chart
from components.kubernetes.namespaces import RUNNERS, SYSTEMS, UNTRUSTED
from components.update_guard import Update, refuse_update

CHART = "oci://ghcr.io/actions/actions-runner-controller-charts/gha-runner-scale-set-controller"
RELEASE = "arc"
SERVICE_ACCOUNT = f"{RELEASE}-gha-rs-controller"
"""The controller's service account. The chart derives the name from the name of the release."""
OWNER_CONFIG_MAP = "github"
APP_SECRET = "github-app"  # noqa: S105 - the name of a Secret, not one


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcControllerArgs:
    """A release of the controller and its GitHub App."""

    version: str
    """The version of the chart."""
    log_level: str
    kubeconfig: Input[str]
    """A kubeconfig of the cluster, for the check before the key is removed."""
    github_url: str
    """The organisation or repository that the runners serve."""
    app_id: int
    """The id of the GitHub App."""
    installation_id: int
    """The id of the App's installation in the organisation."""
    private_key: Input[str]
    """The key of the GitHub App in PEM form."""


class ArcController(pulumi.ComponentResource):
    """The controller, the two namespaces, the organisation or repository, and the Secret with the App's key."""

    ready: pulumi.Resource
    """Scale sets depend on this."""
    runners_namespace: Output[str]
    scale_sets_namespace: Output[str]
    """The same namespace, for the releases of scale sets: another organisation replaces what depends on it."""
    systems_namespace: Output[str]
    secret_name: Output[str]
    installed: str
    """The version and the values of the controller. Another one can replace every listener."""

    def __init__(self, name: str, args: ArcControllerArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:kubernetes:ArcController", name, None, opts)
        child = ResourceOptions(parent=self)
        systems = _namespace(f"{name}-systems", SYSTEMS, {"pod-security.kubernetes.io/enforce": "baseline"}, child)
        runners = _namespace(f"{name}-runners", RUNNERS, UNTRUSTED, child)
        values = controller_values(args.log_level)
        self.installed = json.dumps([args.version, values], sort_keys=True)
        controller = chart(
            name,
            release=RELEASE,
            chart_name=CHART,
            version=args.version,
            namespace=systems.metadata.apply(lambda metadata: metadata.name or SYSTEMS),
            values=values,
            parent=self,
            # It watches this namespace and removes the finalizers in it.
            after=[runners],
            atomic=False,
            guard=refuse_update(f"{name}-minor-version", minor_step),
        )
        namespace = runners.metadata.apply(lambda metadata: metadata.name or RUNNERS)
        # Another organisation replaces this object. The engine first removes everything with an input from it, in the
        # order of dependencies: the scale sets, and the check that none is left. The Secret changes afterwards, so the
        # scale sets are removed with the old key. The option `replace_with` would remove them in any order.
        owner = k8s.core.v1.ConfigMap(
            f"{name}-github",
            metadata={"name": OWNER_CONFIG_MAP, "namespace": namespace},
            data={"url": args.github_url},
            opts=ResourceOptions.merge(child, ResourceOptions(delete_before_replace=True, replace_on_changes=["data"])),
        )
        secret = k8s.core.v1.Secret(
            f"{name}-github-app",
            metadata={
                "name": APP_SECRET,
                "namespace": namespace,
            },
            string_data={
                "github_app_id": str(args.app_id),
                "github_app_installation_id": str(args.installation_id),
                "github_app_private_key": Output.secret(args.private_key),
            },
            # Deleted before the controller and after every scale set: without the key a scale set cannot be removed
            # from GitHub, and its finalizer stays.
            opts=ResourceOptions.merge(
                child, ResourceOptions(depends_on=[controller, owner], delete_before_replace=True)
            ),
        )
        self.ready = command.local.Command(
            f"{name}-removed",
            create="true",
            # Runs after the removal of every scale set and before that of the key. A scale set outlives its release if
            # a job runs longer than the release's time limit.
            delete=f"{COMMAND} removed",
            environment={KUBECONFIG: args.kubeconfig},
            interpreter=SHELL,
            triggers=[owner.id],
            # The Secret depends on the controller, so the controller also runs until then.
            opts=ResourceOptions.merge(child, ResourceOptions(depends_on=[secret], delete_before_replace=True)),
        )
        self.scale_sets_namespace = owner.metadata.apply(lambda metadata: metadata.namespace or RUNNERS)
        self.runners_namespace = namespace
        self.systems_namespace = systems.metadata.apply(lambda metadata: metadata.name or SYSTEMS)
        self.secret_name = secret.metadata.apply(lambda metadata: metadata.name or APP_SECRET)
        self.register_outputs({"runners_namespace": self.runners_namespace})


def minor_step(update: Update) -> str | None:
    """Return why the controller cannot be updated to another minor version; None for any other update."""
    old, new = (str(inputs["version"]) for inputs in (update.old_inputs, update.new_inputs))
    if old.split(".")[:2] == new.split(".")[:2]:
        return None
    return (
        f"the Actions Runner Controller cannot be updated from {old} to {new}: it deletes every scale set of another"
        f" minor version, with its running jobs, and Helm keeps the old definitions. Set ARC_CHARTS back to {old},"
        " remove the runners with `arc` and gpu-ci:arc from the stack file, run `pulumi up`, and install the new"
        " version afterwards, as docs/how-to/upgrade-arc.md describes"
    )


def _namespace(name: str, in_cluster: str, labels: Mapping[str, str], opts: ResourceOptions) -> k8s.core.v1.Namespace:
    return k8s.core.v1.Namespace(
        name,
        metadata={"name": in_cluster, "labels": dict(labels)},
        opts=ResourceOptions.merge(opts, ResourceOptions(delete_before_replace=True)),
    )
