"""The network that cirun's machines stand in: they reach out by an address of their own, and nothing comes in.

A project's `default` network lets SSH in from everywhere, and a project may have none; a machine whose file names no
network stands there.
"""

from __future__ import annotations

import pulumi
import pulumi_gcp as gcp
from pulumi import ResourceOptions


class RunnerNetwork(pulumi.ComponentResource):
    """A network with a subnetwork in every region, since one runner may be started in several."""

    def __init__(self, name: str, *, project: str, title: str, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:gcp:RunnerNetwork", name, None, opts)
        # Its name is its address, so that a new one cannot be made beside the old.
        fixed = ResourceOptions(parent=self, delete_before_replace=True)
        network = gcp.compute.Network(
            name, project=project, name=title, auto_create_subnetworks=True, routing_mode="REGIONAL", opts=fixed
        )
        gcp.compute.Firewall(
            f"{name}-closed",
            project=project,
            name=f"{title}-closed",
            network=network.self_link,
            direction="INGRESS",
            priority=1000,
            denies=[{"protocol": "all"}],
            source_ranges=["0.0.0.0/0"],
            # What Google implies without being told can be undone by a rule of anybody's; this is written down.
            description="Runners ask GitHub for their job: nothing has to come in",
            opts=fixed,
        )
        self.register_outputs({"network": network.id})
