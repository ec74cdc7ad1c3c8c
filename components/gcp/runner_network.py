"""The network of cirun's machines. It accepts no connection from outside.

A machine without a stated network gets the project's `default` network, which may not exist and accepts SSH from
everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
from pulumi import ResourceOptions

from components.gcp.closed_network import closed_network, cloud_nat

if TYPE_CHECKING:
    from collections.abc import Iterable


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
        # Its name is its address: the old network must be deleted before the new one is created.
        fixed = ResourceOptions(parent=self, delete_before_replace=True)
        network, _ = closed_network(
            name,
            project=args.project,
            title=args.title,
            reason="Runners ask GitHub for their job: nothing has to come in",
            subnetwork_in_every_region=True,
            opts=fixed,
        )
        for region in sorted(set(args.nat_regions)):
            cloud_nat(name, project=args.project, title=args.title, region=region, network=network.id, opts=fixed)
        self.register_outputs({"network": network.id})
