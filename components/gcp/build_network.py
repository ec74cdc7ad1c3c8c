"""The network of image builders. It accepts no connection from outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
from pulumi import Output, ResourceOptions

from components.gcp.closed_network import closed_network, subnetworks

if TYPE_CHECKING:
    from collections.abc import Iterable


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
        fixed = ResourceOptions(parent=self, delete_before_replace=True)
        network, firewall = closed_network(
            name,
            project=args.project,
            title=args.title,
            reason="Builders report through their metadata: nothing has to come in",
            subnetwork_in_every_region=False,
            opts=fixed,
        )
        subnets, gateways = subnetworks(
            name,
            project=args.project,
            title=args.title,
            regions=args.regions,
            nat=args.nat,
            network=network.id,
            opts=fixed,
        )
        ready = Output.all(firewall.id, *(made.id for made in (*subnets.values(), *gateways)))
        self.subnetwork = ready.apply(lambda _: args.title)
        self.register_outputs({"subnetwork": self.subnetwork})
