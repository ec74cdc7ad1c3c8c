"""A network that refuses every connection from outside, its subnetworks, and Cloud NAT: a building block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_gcp as gcp
from pulumi import ResourceOptions

from components.gcp.build_ranges import range_of

NAT_PORTS: Final = 2048
"""Ports of each machine, and so its connections to one address at a time; Google's default of 64 delays downloads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedNetwork:
    """A network and its parts."""

    network: gcp.compute.Network
    """The network, in which Google creates all subnetworks or none."""
    subnetworks: Mapping[str, gcp.compute.Subnetwork]
    """Region to the stated subnetwork. All have the name of the network."""
    ready: tuple[pulumi.CustomResource, ...]
    """The firewall rule and Cloud NAT, without which the network is open or has no connection."""


def closed_network(
    name: str,
    *,
    parent: pulumi.ComponentResource,
    project: str,
    title: str,
    reason: str,
    regions: Iterable[str] | None,
    nat_regions: Iterable[str],
) -> ClosedNetwork:
    """Declare a network, the firewall rule that closes it, its subnetworks and Cloud NAT.

    Args:
        name: the logical name of the network.
        parent: the component that owns all resources.
        project: the project.
        title: the name of the network on Google Cloud.
        reason: the description of the firewall rule.
        regions: the regions with a subnetwork; None if Google creates one in every region.
        nat_regions: the regions with Cloud NAT, for machines without a public address.

    """
    # The name of a network is its address: the old one must be deleted before the new one is created.
    opts = ResourceOptions(parent=parent, delete_before_replace=True)
    network = gcp.compute.Network(
        name,
        project=project,
        name=title,
        auto_create_subnetworks=regions is None,
        routing_mode="REGIONAL",
        opts=opts,
    )
    firewall = gcp.compute.Firewall(
        f"{name}-closed",
        project=project,
        name=f"{title}-closed",
        network=network.self_link,
        direction="INGRESS",
        # Google denies ingress by default, but any rule can override that. This rule has a higher priority.
        priority=1000,
        denies=[{"protocol": "all"}],
        source_ranges=["0.0.0.0/0"],
        description=reason,
        opts=opts,
    )
    subnetworks = {
        region: gcp.compute.Subnetwork(
            f"{name}-{region}",
            project=project,
            name=title,
            region=region,
            network=network.id,
            ip_cidr_range=range_of(region),
            private_ip_google_access=True,
            opts=opts,
        )
        for region in sorted(set(regions or ()))
    }
    gateways: list[gcp.compute.RouterNat] = []
    for region in sorted(set(nat_regions)):
        own, shown = f"{name}-nat-{region}", f"{title}-nat"
        router = gcp.compute.Router(own, project=project, name=shown, region=region, network=network.id, opts=opts)
        gateways.append(
            gcp.compute.RouterNat(
                own,
                project=project,
                name=shown,
                region=region,
                router=router.name,
                nat_ip_allocate_option="AUTO_ONLY",
                source_subnetwork_ip_ranges_to_nat="ALL_SUBNETWORKS_ALL_IP_RANGES",
                min_ports_per_vm=NAT_PORTS,
                opts=opts,
            )
        )
    return ClosedNetwork(network=network, subnetworks=subnetworks, ready=(firewall, *gateways))
