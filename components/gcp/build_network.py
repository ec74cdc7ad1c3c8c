"""The network that image builders stand in: nothing comes in, and what goes out has an address of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi
import pulumi_gcp as gcp
from pulumi import Output, ResourceOptions

from components.gcp.build_ranges import range_of

if TYPE_CHECKING:
    from collections.abc import Iterable


class BuildNetwork(pulumi.ComponentResource):
    """A network with one subnetwork, of the same name, in each region: a zone finds its own."""

    subnetwork: Output[str]
    """The subnetworks' name, once all of them and the closed door stand."""

    def __init__(
        self,
        name: str,
        *,
        project: str,
        title: str,
        regions: Iterable[str],
        opts: ResourceOptions | None = None,
    ) -> None:
        """Make it.

        Args:
            name: the logical name.
            project: where.
            title: the network's own name at Google.
            regions: where builders may stand.
            opts: the caller's options.

        """
        super().__init__("gpu-ci:gcp:BuildNetwork", name, None, opts)
        fixed = ResourceOptions(parent=self, delete_before_replace=True)
        network = gcp.compute.Network(
            name, project=project, name=title, auto_create_subnetworks=False, routing_mode="REGIONAL", opts=fixed
        )
        door = gcp.compute.Firewall(
            f"{name}-closed",
            project=project,
            name=f"{title}-closed",
            network=network.self_link,
            direction="INGRESS",
            priority=1000,
            denies=[{"protocol": "all"}],
            source_ranges=["0.0.0.0/0"],
            # What Google implies without being told can be undone by a rule of anybody's; this is written down.
            description="Builders report through their metadata: nothing has to come in",
            opts=fixed,
        )
        subnetworks = [
            gcp.compute.Subnetwork(
                f"{name}-{region}",
                project=project,
                name=title,
                region=region,
                network=network.id,
                ip_cidr_range=range_of(region),
                private_ip_google_access=True,
                opts=fixed,
            )
            for region in sorted(set(regions))
        ]
        self.subnetwork = Output.all(door.id, *(subnetwork.id for subnetwork in subnetworks)).apply(lambda _: title)
        self.register_outputs({"subnetwork": self.subnetwork})
