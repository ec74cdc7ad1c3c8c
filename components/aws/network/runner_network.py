"""The networks of cirun's machines and of image builders: one VPC in each region. They accept no connection.

A machine without a stated subnet gets the default VPC of its region, whose default security group and neighbours are
those of other workloads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Final

import pulumi
import pulumi_aws as aws
from pulumi import Output, ResourceOptions

RANGE: Final = IPv4Network("10.0.0.0/16")
"""The range of every VPC. They are connected to nothing, so they may overlap other networks."""
_ANYWHERE: Final = "0.0.0.0/0"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerNetworkArgs:
    """The networks of the regions that runners state."""

    title: str
    """The start of the `Name` tags."""
    zones: Mapping[str, Sequence[str]]
    """Region to the zones with a subnet; for a region without zones, AWS chooses one."""


class RunnerNetwork(pulumi.ComponentResource):
    """A VPC with public subnets in each region. Its default security group only allows outgoing connections."""

    vpc_arns: Mapping[str, Output[str]]
    """Region to VPC."""
    subnet_ids: Mapping[str, Output[str]]
    """Zone, or region where AWS chooses the zone, to subnet."""
    group_ids: Mapping[str, Output[str]]
    """Region to the security group, which accepts no connection."""

    def __init__(self, name: str, args: RunnerNetworkArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:RunnerNetwork", name, None, opts)
        child = ResourceOptions(parent=self)
        arns: dict[str, Output[str]] = {}
        subnets: dict[str, Output[str]] = {}
        groups: dict[str, Output[str]] = {}
        for region, zones in args.zones.items():
            title = f"{args.title}-{region}"
            vpc = aws.ec2.Vpc(
                f"{name}-{region}",
                region=region,
                cidr_block=str(RANGE),
                enable_dns_hostnames=True,
                enable_dns_support=True,
                tags={"Name": title},
                opts=child,
            )
            # A machine without a stated group gets this one.
            group = aws.ec2.DefaultSecurityGroup(
                f"{name}-{region}",
                region=region,
                vpc_id=vpc.id,
                egress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "cidr_blocks": [_ANYWHERE]}],
                tags={"Name": title},
                opts=child,
            )
            arns[region], groups[region] = vpc.arn, group.id
            subnets |= _subnets(name, title, region, zones, vpc, child)
        self.vpc_arns, self.subnet_ids, self.group_ids = arns, subnets, groups
        self.register_outputs({"subnet_ids": subnets})


def _subnets(
    name: str, title: str, region: str, zones: Sequence[str], vpc: aws.ec2.Vpc, child: ResourceOptions
) -> dict[str, Output[str]]:
    """Declare the internet gateway and the subnets of a region; return the subnets by zone."""
    internet = aws.ec2.InternetGateway(
        f"{name}-{region}", region=region, vpc_id=vpc.id, tags={"Name": title}, opts=child
    )
    table = aws.ec2.RouteTable(f"{name}-{region}", region=region, vpc_id=vpc.id, tags={"Name": title}, opts=child)
    route = aws.ec2.Route(
        f"{name}-{region}-out",
        region=region,
        route_table_id=table.id,
        destination_cidr_block=_ANYWHERE,
        gateway_id=internet.id,
        opts=child,
    )
    ready: dict[str, Output[str]] = {}
    for zone in zones or [region]:
        subnet = aws.ec2.Subnet(
            f"{name}-{zone}",
            region=region,
            vpc_id=vpc.id,
            availability_zone=zone if zone != region else None,
            cidr_block=str(_range(zone if zone != region else f"{region}a")),
            # Without NAT gateways, which cost 33 USD a month in each region. No rule accepts a connection.
            map_public_ip_on_launch=True,
            tags={"Name": f"{title}-{zone}"},
            opts=child,
        )
        link = aws.ec2.RouteTableAssociation(
            f"{name}-{zone}", region=region, subnet_id=subnet.id, route_table_id=table.id, opts=child
        )
        ready[zone] = Output.all(subnet=link.subnet_id, out=route.id).apply(lambda ids: str(ids["subnet"]))
    return ready


def _range(zone: str) -> IPv4Network:
    """Return the range of a zone. It depends on the letter of the zone only, so another zone moves no subnet."""
    return list(RANGE.subnets(new_prefix=20))[ord(zone[-1]) - ord("a")]
