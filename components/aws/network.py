"""The VPC: a private and a public subnet in each zone, the way out, and the short way to S3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pulumi
import pulumi_aws as aws
from pulumi import Output, ResourceOptions

from components.aws.addressing import zone_ranges

if TYPE_CHECKING:
    from collections.abc import Mapping
    from ipaddress import IPv4Network


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkArgs:
    """What a network is made from."""

    name: str
    """The `Name` tag of the VPC, and the beginning of the others'."""
    region: str
    cidr: IPv4Network
    """The range the subnets are cut from."""
    zones: Mapping[str, int]
    """Zone to slot; a slot in use never changes, since it is the subnets' addresses."""
    nat: Literal["single", "per-zone"]
    """Whether zones share a NAT gateway."""


class Network(pulumi.ComponentResource):
    """A VPC whose private subnets carry the cluster and its nodes."""

    vpc_id: Output[str]
    private_subnet_ids: Mapping[str, Output[str]]
    """Zone to private subnet. A subnet handed out has its way out: it can be launched in."""

    def __init__(self, name: str, args: NetworkArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:aws:Network", name, None, opts)
        child = ResourceOptions(parent=self)
        vpc = aws.ec2.Vpc(
            name,
            cidr_block=str(args.cidr),
            # The private endpoint's name resolves only with both.
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags={"Name": args.name},
            opts=child,
        )
        internet = aws.ec2.InternetGateway(
            f"{name}-internet", vpc_id=vpc.id, tags={"Name": f"{args.name}-internet"}, opts=child
        )
        public_table = aws.ec2.RouteTable(
            f"{name}-public", vpc_id=vpc.id, tags={"Name": f"{args.name}-public"}, opts=child
        )
        fix = aws.ec2.Route(
            f"{name}-public-out",
            route_table_id=public_table.id,
            destination_cidr_block="0.0.0.0/0",
            gateway_id=internet.id,
            opts=child,
        )
        ranges = zone_ranges(args.cidr, args.zones)
        nat_zones = list(args.zones) if args.nat == "per-zone" else [min(args.zones, key=lambda zone: args.zones[zone])]
        gateways: dict[str, aws.ec2.NatGateway] = {}
        for zone in args.zones:
            subnet = aws.ec2.Subnet(
                f"{name}-public-{zone}",
                vpc_id=vpc.id,
                availability_zone=zone,
                cidr_block=str(ranges[zone].public),
                tags={"Name": f"{args.name}-public-{zone}", "kubernetes.io/role/elb": "1"},
                opts=child,
            )
            aws.ec2.RouteTableAssociation(
                f"{name}-public-{zone}", subnet_id=subnet.id, route_table_id=public_table.id, opts=child
            )
            if zone in nat_zones:
                address = aws.ec2.Eip(
                    f"{name}-nat-{zone}", domain="vpc", tags={"Name": f"{args.name}-nat-{zone}"}, opts=child
                )
                gateways[zone] = aws.ec2.NatGateway(
                    f"{name}-nat-{zone}",
                    subnet_id=subnet.id,
                    allocation_id=address.id,
                    tags={"Name": f"{args.name}-nat-{zone}"},
                    # A NAT gateway whose subnet has no route out comes up failed, and nothing else says so.
                    opts=ResourceOptions.merge(child, ResourceOptions(depends_on=[fix])),
                )
        private_subnets: dict[str, Output[str]] = {}
        tables: dict[str, Output[str]] = {}
        for zone in args.zones:
            table = aws.ec2.RouteTable(
                f"{name}-private-{zone}", vpc_id=vpc.id, tags={"Name": f"{args.name}-private-{zone}"}, opts=child
            )
            tables[zone] = table.id
            out = aws.ec2.Route(
                f"{name}-private-{zone}-out",
                route_table_id=table.id,
                destination_cidr_block="0.0.0.0/0",
                nat_gateway_id=gateways.get(zone, gateways[nat_zones[0]]).id,
                opts=child,
            )
            subnet = aws.ec2.Subnet(
                f"{name}-private-{zone}",
                vpc_id=vpc.id,
                availability_zone=zone,
                cidr_block=str(ranges[zone].private),
                tags={"Name": f"{args.name}-private-{zone}", "kubernetes.io/role/internal-elb": "1"},
                opts=child,
            )
            association = aws.ec2.RouteTableAssociation(
                f"{name}-private-{zone}", subnet_id=subnet.id, route_table_id=table.id, opts=child
            )
            # Through these, whoever stands in the subnet waits for its way out, and leaves before it is taken down.
            private_subnets[zone] = Output.all(subnet=association.subnet_id, out=out.id).apply(
                lambda ready: str(ready["subnet"])
            )
        aws.ec2.VpcEndpoint(
            f"{name}-s3",
            vpc_id=vpc.id,
            vpc_endpoint_type="Gateway",
            service_name=f"com.amazonaws.{args.region}.s3",
            # ECR keeps image layers in S3: without this, every gigabyte of a CUDA image is paid for at the NAT.
            route_table_ids=[tables[zone] for zone in sorted(tables)],
            tags={"Name": f"{args.name}-s3"},
            opts=child,
        )
        self.vpc_id = vpc.id
        self.private_subnet_ids = private_subnets
        self.register_outputs({"vpc_id": self.vpc_id, "private_subnet_ids": private_subnets})
