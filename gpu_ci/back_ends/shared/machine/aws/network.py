"""The network of one machine on EC2: it reaches the internet on stated ports and accepts no connection.

Each machine has a VPC, so that it shares neither addresses nor security groups with other workloads. DNS, the time and
the metadata come from addresses of EC2 itself, which security groups do not filter (EC2 user guide, "Security group
rules", 2026).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws
from pulumi import Output, ResourceOptions

from gpu_ci.knowledge.regions import region_of

_RANGE: Final = "10.0.0.0/24"
"""The range of the VPC. It is connected to nothing, so that it may overlap other networks."""
_ANYWHERE: Final = "0.0.0.0/0"


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineNetworkArgs:
    """The zone and the open ports."""

    title: str
    """The `Name` tag."""
    zone: str
    """The availability zone of the machine."""
    egress_ports: Sequence[int]
    """TCP ports on which the machine reaches the internet."""


class MachineNetwork(pulumi.ComponentResource):
    """A VPC with one public subnet. Its default security group has no rules."""

    subnet_id: Output[str]
    """The subnet, after its route to the internet exists."""
    security_group_id: Output[str]

    def __init__(self, name: str, args: MachineNetworkArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:MachineNetwork", name, None, opts)
        child = ResourceOptions(parent=self)
        region, tags = region_of(args.zone), {"Name": args.title}
        vpc = aws.ec2.Vpc(
            name,
            region=region,
            cidr_block=_RANGE,
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=tags,
            opts=child,
        )
        aws.ec2.DefaultSecurityGroup(name, region=region, vpc_id=vpc.id, tags=tags, opts=child)
        internet = aws.ec2.InternetGateway(name, region=region, vpc_id=vpc.id, tags=tags, opts=child)
        table = aws.ec2.RouteTable(name, region=region, vpc_id=vpc.id, tags=tags, opts=child)
        route = aws.ec2.Route(
            name,
            region=region,
            route_table_id=table.id,
            destination_cidr_block=_ANYWHERE,
            gateway_id=internet.id,
            opts=child,
        )
        subnet = aws.ec2.Subnet(
            # A subnet cannot move to another zone, and its range is that of the VPC.
            name,
            region=region,
            vpc_id=vpc.id,
            availability_zone=args.zone,
            cidr_block=_RANGE,
            # Without a NAT gateway, which costs 33 USD a month. No rule accepts a connection.
            map_public_ip_on_launch=True,
            tags=tags,
            opts=ResourceOptions.merge(child, ResourceOptions(delete_before_replace=True)),
        )
        link = aws.ec2.RouteTableAssociation(
            name, region=region, subnet_id=subnet.id, route_table_id=table.id, opts=child
        )
        group = aws.ec2.SecurityGroup(
            name,
            region=region,
            vpc_id=vpc.id,
            description="A machine with a runner: no incoming connection",
            ingress=[],
            egress=[
                {"protocol": "tcp", "from_port": port, "to_port": port, "cidr_blocks": [_ANYWHERE]}
                for port in args.egress_ports
            ],
            tags=tags,
            opts=child,
        )
        self.subnet_id = Output.all(subnet=link.subnet_id, out=route.id).apply(lambda ids: str(ids["subnet"]))
        self.security_group_id = group.id
        self.register_outputs({"subnet_id": self.subnet_id, "security_group_id": self.security_group_id})
