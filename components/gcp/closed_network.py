"""A network that refuses every connection from outside, its subnetworks, and Cloud NAT: building blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pulumi_gcp as gcp

from components.gcp.build_ranges import range_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pulumi import Input, ResourceOptions

NAT_PORTS: Final = 2048
"""Ports of each machine, and so its connections to one address at a time; Google's default of 64 delays downloads."""


def closed_network(
    name: str, *, project: str, title: str, reason: str, subnetwork_in_every_region: bool, opts: ResourceOptions
) -> tuple[gcp.compute.Network, gcp.compute.Firewall]:
    """Declare a network and the firewall rule that closes it.

    Args:
        name: the logical name of the network.
        project: the project.
        title: the name of the network on Google Cloud.
        reason: the description of the firewall rule.
        subnetwork_in_every_region: whether Google creates a subnetwork in every region.
        opts: options of both resources.

    """
    network = gcp.compute.Network(
        name,
        project=project,
        name=title,
        auto_create_subnetworks=subnetwork_in_every_region,
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
    return network, firewall


def subnetworks(
    name: str,
    *,
    project: str,
    title: str,
    regions: Iterable[str],
    nat: bool,
    network: Input[str],
    opts: ResourceOptions,
) -> tuple[dict[str, gcp.compute.Subnetwork], list[gcp.compute.RouterNat]]:
    """Declare a subnetwork in each region, all of the same name, and Cloud NAT for each if `nat` is True.

    Args:
        name: the logical name of the network.
        project: the project.
        title: the name of the network on Google Cloud.
        regions: the regions.
        nat: whether machines without a public address need a connection.
        network: the id of the network.
        opts: options of all resources.

    """
    found = sorted(set(regions))
    made = {
        region: gcp.compute.Subnetwork(
            f"{name}-{region}",
            project=project,
            name=title,
            region=region,
            network=network,
            ip_cidr_range=range_of(region),
            private_ip_google_access=True,
            opts=opts,
        )
        for region in found
    }
    gateways = [
        cloud_nat(name, project=project, title=title, region=region, network=network, opts=opts)
        for region in found
        if nat
    ]
    return made, gateways


def cloud_nat(
    name: str, *, project: str, title: str, region: str, network: Input[str], opts: ResourceOptions
) -> gcp.compute.RouterNat:
    """Declare Cloud NAT for all machines of a network in one region.

    Args:
        name: the logical name of the network.
        project: the project.
        title: the name of the network on Google Cloud.
        region: the region.
        network: the id of the network.
        opts: options of both resources.

    """
    own, shown = f"{name}-nat-{region}", f"{title}-nat"
    router = gcp.compute.Router(own, project=project, name=shown, region=region, network=network, opts=opts)
    return gcp.compute.RouterNat(
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
