"""Runner scale sets, one for each runner name in workflows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_command as command
import pulumi_kubernetes as k8s
from pulumi import Input, Output, ResourceOptions

from components.kubernetes.arc.hooks import SCRIPTS
from components.kubernetes.arc.scale_set_values import (
    HOOKS_CONFIG_MAP,
    JOB_TEMPLATE,
    ScaleSetValues,
    job_pod,
    job_template_name,
    removal_minutes,
    scale_set_values,
)
from components.kubernetes.arc_check import COMMAND, KUBECONFIG, RELEASE, SHELL
from components.kubernetes.chart import chart

CHART = "oci://ghcr.io/actions/actions-runner-controller-charts/gha-runner-scale-set"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobHooksArgs:
    """The location of the scripts."""

    namespace: Input[str]
    """The namespace of the runners."""


class JobHooks(pulumi.ComponentResource):
    """The scripts that every runner runs before and after a job."""

    config_map: k8s.core.v1.ConfigMap

    def __init__(self, name: str, args: JobHooksArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:kubernetes:JobHooks", name, None, opts)
        self.config_map = k8s.core.v1.ConfigMap(
            name,
            metadata={"name": HOOKS_CONFIG_MAP, "namespace": args.namespace},
            data=dict(SCRIPTS),
            opts=ResourceOptions(parent=self, delete_before_replace=True),
        )
        self.register_outputs({})


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleSetArgs:
    """A release of one scale set."""

    values: ScaleSetValues
    version: str
    """The version of the chart, equal to the controller's. Another minor version deletes the scale set."""
    namespace: Input[str]
    """The namespace of the runners."""
    image: Input[str]
    """The image of the runner's container."""
    secret_name: Input[str]
    """The Secret with the GitHub App's key."""
    kubeconfig: Input[str]
    """A kubeconfig of the cluster, for the check of the listener."""
    controller: str
    """The version and the values of the controller. Another one repeats the check of the listener."""
    controller_namespace: str
    """The namespace of the controller."""
    controller_account: str
    """The service account of the controller."""
    after: Sequence[pulumi.Resource]
    """The controller and the hooks. Only a running controller removes a scale set's finalizers."""


class ScaleSet(pulumi.ComponentResource):
    """A scale set, and the check that its listener has a session. Workflows use its name in `runs-on`."""

    def __init__(self, name: str, args: ScaleSetArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:kubernetes:ScaleSet", name, None, opts)
        runner = args.values.runner
        after = list(args.after)
        if args.values.container_mode != "none":
            after.append(
                k8s.core.v1.ConfigMap(
                    f"{name}-job-pod",
                    metadata={"name": job_template_name(runner), "namespace": args.namespace},
                    # JSON is valid YAML, and this text never changes for the same values.
                    data={JOB_TEMPLATE: json.dumps(job_pod(args.values), indent=2, sort_keys=True)},
                    opts=ResourceOptions(parent=self, delete_before_replace=True),
                )
            )
        values = scale_set_values(
            args.values,
            image=args.image,
            secret_name=args.secret_name,
            controller_namespace=args.controller_namespace,
            controller_account=args.controller_account,
        )
        release = chart(
            name,
            release=runner,
            chart_name=CHART,
            version=args.version,
            namespace=args.namespace,
            values=values,
            parent=self,
            after=after,
            # The controller sends these to GitHub only when it registers a scale set.
            replace_on=["values.githubConfigUrl", "values.runnerGroup", "values.scaleSetLabels"],
            timeout_minutes=removal_minutes(args.values),
            # The objects of a failed installation show the cause.
            atomic=False,
        )
        command.local.Command(
            f"{name}-listener",
            # An update runs it, too. The revision is that of the last change.
            create=f"{COMMAND} listening {runner}",
            environment={
                KUBECONFIG: args.kubeconfig,
                RELEASE: release.urn,
                "GPU_CI_REVISION": Output.json_dumps([args.controller, values]).apply(_digest),
            },
            interpreter=SHELL,
            opts=ResourceOptions(parent=self, depends_on=[release]),
        )
        self.register_outputs({})


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
