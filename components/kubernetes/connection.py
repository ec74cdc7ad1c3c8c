"""The Kubernetes provider of the cluster. It depends on the administrators' access, the nodes and the add-ons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as k8s
from pulumi import Input, Output, ResourceOptions

from components.kubernetes.kubeconfig import kubeconfig


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionArgs:
    """A cluster and its prerequisites."""

    name: Input[str]
    """The name of the cluster in EKS."""
    arn: Input[str]
    """The ARN of the cluster."""
    endpoint: Input[str]
    """The URL of the Kubernetes API."""
    certificate_authority: Input[str]
    """The certificate authority of the API, in base64."""
    region: str
    after: Sequence[pulumi.Resource]
    """The administrators' access, the nodes and the add-ons."""


class Connection(pulumi.ComponentResource):
    """A Kubernetes provider. Everything in the cluster inherits its dependencies."""

    provider: k8s.Provider
    kubeconfig: Output[str]
    """The kubeconfig, as a secret."""

    def __init__(self, name: str, args: ConnectionArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:kubernetes:Connection", name, None, opts)
        self.kubeconfig = Output.secret(
            Output.all(name=args.name, endpoint=args.endpoint, certificate_authority=args.certificate_authority).apply(
                lambda facts: kubeconfig(**facts, region=args.region)
            )
        )
        self.provider = k8s.Provider(
            name,
            kubeconfig=self.kubeconfig,
            # Without it the provider compares kubeconfigs to detect another cluster, and may replace every object.
            cluster_identifier=args.arn,
            # Otherwise every change of a ConfigMap replaces it, and pods that start meanwhile find none.
            enable_config_map_mutable=True,
            # Every object in the cluster needs access and nodes, and is deleted before them. One dependency of the
            # provider replaces one of each object.
            opts=ResourceOptions(parent=self, depends_on=list(args.after)),
        )
        self.register_outputs({"kubeconfig": self.kubeconfig})
