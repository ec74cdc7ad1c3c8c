"""The network of image builders. It accepts no connection from outside."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pulumi
from pulumi import Output, ResourceOptions

from components.gcp.closed_network import closed_network


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildNetworkArgs:
    """A network for builders."""

    project: str
    title: str
    """The name of the network and its subnetworks on Google Cloud."""
    regions: Iterable[str]
    """Regions of the builders."""
    nat: bool = False
    """Whether to create Cloud NAT, for builders without a public address."""


class BuildNetwork(pulumi.ComponentResource):
    """A network with one subnetwork in each region, all of the same name."""

    subnetwork: Output[str]
    """The name of the subnetworks, after all of them, the firewall rule and Cloud NAT exist."""

    def __init__(self, name: str, args: BuildNetworkArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:gcp:BuildNetwork", name, None, opts)
        closed = closed_network(
            name,
            parent=self,
            project=args.project,
            title=args.title,
            reason="Builders report through their metadata: nothing has to come in",
            regions=args.regions,
            nat_regions=args.regions if args.nat else (),
        )
        ready = Output.all(*(made.id for made in (*closed.ready, *closed.subnetworks.values())))
        self.subnetwork = ready.apply(lambda _: args.title)
        self.register_outputs({"subnetwork": self.subnetwork})
