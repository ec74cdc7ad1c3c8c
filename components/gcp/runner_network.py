"""The network of cirun's machines. It accepts no connection from outside.

A machine without a stated network gets the project's `default` network, which may not exist and accepts SSH from
everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pulumi
from pulumi import ResourceOptions

from components.gcp.closed_network import closed_network


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerNetworkArgs:
    """A network for runners."""

    project: str
    title: str
    """The name of the network on Google Cloud."""
    nat_regions: Iterable[str] = ()
    """Regions with Cloud NAT, for runners without a public address."""


class RunnerNetwork(pulumi.ComponentResource):
    """A network with a subnetwork in every region, because a runner may start in several regions."""

    def __init__(self, name: str, args: RunnerNetworkArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:gcp:RunnerNetwork", name, None, opts)
        closed = closed_network(
            name,
            parent=self,
            project=args.project,
            title=args.title,
            reason="Runners ask GitHub for their job: nothing has to come in",
            regions=None,
            nat_regions=args.nat_regions,
        )
        self.register_outputs({"network": closed.network.id})
