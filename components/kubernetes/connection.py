"""The provider through which the cluster's inside is made, once someone is let in and there is somewhere to run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
import pulumi_kubernetes as k8s
from pulumi import Input, Output, ResourceOptions

from components.kubernetes.kubeconfig import kubeconfig

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionArgs:
    """Which cluster, and what must stand before it is spoken to."""

    name: Input[str]
    arn: Input[str]
    endpoint: Input[str]
    certificate_authority: Input[str]
    region: str
    after: Sequence[pulumi.Resource]
    """The administrators' access, the nodes, and what the cluster offers on them."""


class Connection(pulumi.ComponentResource):
    """A Kubernetes provider that carries the order of everything made through it."""

    provider: k8s.Provider
    kubeconfig: Output[str]
    """Secret: it names the endpoint and the way in."""

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
            # Without it the provider guesses from the kubeconfig whether this is another cluster, and may replace
            # everything inside.
            cluster_identifier=args.arn,
            # Whatever is made through this provider needs someone let in and somewhere to run, and must be gone
            # before either is taken away: one edge here instead of one on every object.
            opts=ResourceOptions(parent=self, depends_on=list(args.after)),
        )
        self.register_outputs({"kubeconfig": self.kubeconfig})
