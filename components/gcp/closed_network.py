"""A network that refuses every connection from outside: a building block."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi_gcp as gcp

if TYPE_CHECKING:
    from pulumi import ResourceOptions


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
