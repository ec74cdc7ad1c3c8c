"""The VPC: a private and a public subnet in each zone, NAT gateways, and an endpoint for S3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network

import pulumi
import pulumi_aws as aws
from pulumi import Output, ResourceOptions

from components.aws.network.addressing import zone_ranges


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkArgs:
    """A VPC."""

    name: str
    """The `Name` tag of the VPC. The `Name` tags of its parts start with it."""
    region: str
    cidr: IPv4Network
    """The range that the subnets are cut from."""
    zones: Mapping[str, int]
    """Zone to slot. The slot determines the addresses of the zone's subnets: do not change a slot in use."""
    gateway_zones: Sequence[str]
    """The zones with a NAT gateway. The other zones use the first one."""


class Network(pulumi.ComponentResource):
    """A VPC whose private subnets contain the cluster and its nodes."""

    vpc_id: Output[str]
    private_subnet_ids: Mapping[str, Output[str]]
    """Zone to private subnet. The control plane needs no route to the internet, so it waits for no NAT gateway."""
    node_subnet_ids: Mapping[str, Output[str]]
    """The same subnets with their default routes, for nodes."""

    def __init__(self, name: str, args: NetworkArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:Network", name, None, opts)
        child = ResourceOptions(parent=self)
        vpc = aws.ec2.Vpc(
            name,
            cidr_block=str(args.cidr),
            # The name of the private EKS endpoint resolves only with both.
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags={"Name": args.name},
            opts=child,
        )
        # A new VPC has a group whose members accept every connection of each other. Without rules it accepts none.
        aws.ec2.DefaultSecurityGroup(name, vpc_id=vpc.id, tags={"Name": f"{args.name}-closed"}, opts=child)
        gateways = _public(name, args, vpc, child)
        shared = gateways[args.gateway_zones[0]]
        private = {zone: _private(name, args, vpc, zone, gateways.get(zone, shared), child) for zone in args.zones}
        aws.ec2.VpcEndpoint(
            f"{name}-s3",
            vpc_id=vpc.id,
            vpc_endpoint_type="Gateway",
            service_name=f"com.amazonaws.{args.region}.s3",
            # ECR keeps image layers in S3. Without the endpoint the NAT gateway charges for every pulled gigabyte.
            route_table_ids=[private[zone].table_id for zone in sorted(private)],
            tags={"Name": f"{args.name}-s3"},
            opts=child,
        )
        self.vpc_id = vpc.id
        self.private_subnet_ids = {zone: subnet.id for zone, subnet in private.items()}
        self.node_subnet_ids = {zone: subnet.routed_id for zone, subnet in private.items()}
        self.register_outputs({"vpc_id": self.vpc_id, "private_subnet_ids": self.private_subnet_ids})


@dataclass(frozen=True, slots=True, kw_only=True)
class _PrivateSubnet:
    """A private subnet."""

    table_id: Output[str]
    """Its route table."""
    id: Output[str]
    """The subnet with its route table."""
    routed_id: Output[str]
    """The subnet with its default route. Everything that uses it is deleted before the route."""


def _public(name: str, args: NetworkArgs, vpc: aws.ec2.Vpc, child: ResourceOptions) -> dict[str, aws.ec2.NatGateway]:
    """Declare the public subnets; return the NAT gateways by zone."""
    title, zones, ranges = args.name, args.zones, zone_ranges(args.cidr, args.zones)
    internet = aws.ec2.InternetGateway(
        f"{name}-internet", vpc_id=vpc.id, tags={"Name": f"{title}-internet"}, opts=child
    )
    table = aws.ec2.RouteTable(f"{name}-public", vpc_id=vpc.id, tags={"Name": f"{title}-public"}, opts=child)
    route = aws.ec2.Route(
        f"{name}-public-out",
        route_table_id=table.id,
        destination_cidr_block="0.0.0.0/0",
        gateway_id=internet.id,
        opts=child,
    )
    gateways: dict[str, aws.ec2.NatGateway] = {}
    for zone in zones:
        subnet = aws.ec2.Subnet(
            f"{name}-public-{zone}",
            vpc_id=vpc.id,
            availability_zone=zone,
            cidr_block=str(ranges[zone].public),
            tags={"Name": f"{title}-public-{zone}", "kubernetes.io/role/elb": "1"},
            opts=child,
        )
        aws.ec2.RouteTableAssociation(f"{name}-public-{zone}", subnet_id=subnet.id, route_table_id=table.id, opts=child)
        if zone in args.gateway_zones:
            gateways[zone] = _nat_gateway(f"{name}-nat-{zone}", f"{title}-nat-{zone}", subnet, route, child)
    return gateways


def _nat_gateway(
    name: str, title: str, subnet: aws.ec2.Subnet, route: aws.ec2.Route, child: ResourceOptions
) -> aws.ec2.NatGateway:
    tags = {"Name": title}
    address = aws.ec2.Eip(name, domain="vpc", tags=tags, opts=child)
    return aws.ec2.NatGateway(
        name,
        subnet_id=subnet.id,
        allocation_id=address.id,
        tags=tags,
        # Without a route to the internet a NAT gateway fails at creation, and only its state says so.
        opts=ResourceOptions.merge(child, ResourceOptions(depends_on=[route])),
    )


def _private(
    name: str, args: NetworkArgs, vpc: aws.ec2.Vpc, zone: str, gateway: aws.ec2.NatGateway, child: ResourceOptions
) -> _PrivateSubnet:
    name, title, ranges = f"{name}-private-{zone}", f"{args.name}-private-{zone}", zone_ranges(args.cidr, args.zones)
    table = aws.ec2.RouteTable(name, vpc_id=vpc.id, tags={"Name": title}, opts=child)
    route = aws.ec2.Route(
        f"{name}-out",
        route_table_id=table.id,
        destination_cidr_block="0.0.0.0/0",
        nat_gateway_id=gateway.id,
        opts=child,
    )
    subnet = aws.ec2.Subnet(
        name,
        vpc_id=vpc.id,
        availability_zone=zone,
        cidr_block=str(ranges[zone].private),
        tags={"Name": title, "kubernetes.io/role/internal-elb": "1"},
        opts=child,
    )
    association = aws.ec2.RouteTableAssociation(name, subnet_id=subnet.id, route_table_id=table.id, opts=child)
    routed = Output.all(subnet=association.subnet_id, out=route.id).apply(lambda ids: str(ids["subnet"]))
    return _PrivateSubnet(table_id=table.id, id=association.subnet_id.apply(str), routed_id=routed)
