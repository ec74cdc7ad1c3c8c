"""Tests of the network: stable subnets, their default routes, and the endpoint for S3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network
from typing import Final

import pytest
from pulumi import ResourceOptions

from components.aws.network.network import Network, NetworkArgs
from ops.plan.model import Plan
from tests.components.made import made, names, only, waits_for
from tests.ops.small import KEY, Thing

pytestmark = pytest.mark.plan

ZONES = {"us-west-2a": 0, "us-west-2b": 1, "us-west-2c": 2}
NAT = "aws:ec2/natGateway:NatGateway"
ROUTE = "aws:ec2/route:Route"
SUBNET = "aws:ec2/subnet:Subnet"
TABLE = "aws:ec2/routeTable:RouteTable"


FIRST: Final = ("us-west-2a",)


def network(gateway_zones: Sequence[str] = FIRST, zones: Mapping[str, int] = ZONES) -> Plan:
    args = NetworkArgs(
        name="gpu-ci-small",
        region="us-west-2",
        cidr=IPv4Network("10.0.0.0/16"),
        zones=zones,
        gateway_zones=gateway_zones,
    )

    def build(here: ResourceOptions) -> None:
        declared = Network("network", args, here)
        for name, ids in (("control", declared.private_subnet_ids), ("nodes", declared.node_subnet_ids)):
            Thing(KEY, name, {"subnets": [ids[zone] for zone in sorted(ids)]}, ResourceOptions(parent=declared))

    return made(build)


@pytest.fixture(scope="module")
def single() -> Plan:
    return network()


@pytest.fixture(scope="module")
def per_zone() -> Plan:
    return network(tuple(ZONES))


def gateways(plan: Plan) -> dict[str, str]:
    """Zone to the gateway that its private subnet goes out by."""
    routes = {zone: plan.one(ROUTE, f"network-private-{zone}-out") for zone in ZONES}
    ways = {zone: route.property_dependencies["natGatewayId"] for zone, route in routes.items()}
    return {zone: urn.rpartition("::")[2] for zone, (urn,) in ways.items()}


def test_one_gateway_serves_every_zone(single: Plan) -> None:
    assert names(single, NAT) == ["network-nat-us-west-2a"]
    assert gateways(single) == dict.fromkeys(ZONES, "network-nat-us-west-2a")


def test_with_a_gateway_in_each_zone_every_zone_uses_its_own(per_zone: Plan) -> None:
    """A zone that goes out by another's gateway is lost with that zone, and pays for the traffic between."""
    assert gateways(per_zone) == {zone: f"network-nat-{zone}" for zone in ZONES}


@pytest.mark.parametrize("which", ["single", "per_zone"])
def test_every_gateway_has_its_own_address_and_depends_on_the_default_route(
    which: str, request: pytest.FixtureRequest
) -> None:
    """Without a default route the gateway fails at creation."""
    plan: Plan = request.getfixturevalue(which)
    fix = plan.one(ROUTE, "network-public-out")

    assert names(plan, "aws:ec2/eip:Eip") == names(plan, NAT)
    assert all(waits_for(plan, gateway, fix) for gateway in plan.of(NAT))


def test_every_zone_has_both_subnets_in_the_range_of_its_slot(single: Plan) -> None:
    found = {(each.name, each.inputs["availabilityZone"], each.inputs["cidrBlock"]) for each in single.of(SUBNET)}

    assert found == {
        ("network-private-us-west-2a", "us-west-2a", "10.0.0.0/20"),
        ("network-private-us-west-2b", "us-west-2b", "10.0.16.0/20"),
        ("network-private-us-west-2c", "us-west-2c", "10.0.32.0/20"),
        ("network-public-us-west-2a", "us-west-2a", "10.0.128.0/22"),
        ("network-public-us-west-2b", "us-west-2b", "10.0.144.0/22"),
        ("network-public-us-west-2c", "us-west-2c", "10.0.160.0/22"),
    }


def test_no_subnet_assigns_public_addresses(single: Plan) -> None:
    assert [each.name for each in single.of(SUBNET) if each.inputs.get("mapPublicIpOnLaunch")] == []


def test_subnets_have_the_tags_for_load_balancers(single: Plan) -> None:
    tags = {each.name: each.inputs["tags"] for each in single.of(SUBNET)}

    assert {name for name, stated in tags.items() if stated.get("kubernetes.io/role/elb") == "1"} == {
        name for name in tags if "-public-" in name
    }
    assert {name for name, stated in tags.items() if stated.get("kubernetes.io/role/internal-elb") == "1"} == {
        name for name in tags if "-private-" in name
    }


def test_the_default_security_group_allows_no_connection(single: Plan) -> None:
    """AWS gives a new network a group whose members accept every connection of each other."""
    group = only(single, "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup")

    assert group.inputs.keys().isdisjoint({"ingress", "egress"})
    assert group.property_dependencies["vpcId"] == (only(single, "aws:ec2/vpc:Vpc").urn,)


def test_the_vpc_resolves_the_name_of_the_private_endpoint(single: Plan) -> None:
    """EKS needs both; without them nodes go out to the public endpoint, or nowhere."""
    vpc = only(single, "aws:ec2/vpc:Vpc")

    assert (vpc.inputs["enableDnsHostnames"], vpc.inputs["enableDnsSupport"]) == (True, True)


def test_every_private_subnet_pulls_image_layers_through_the_s3_endpoint(single: Plan) -> None:
    """A table without the endpoint sends every pull through the NAT gateway."""
    endpoint = only(single, "aws:ec2/vpcEndpoint:VpcEndpoint")
    private = [table.urn for table in single.of(TABLE) if "-private-" in table.name]

    assert endpoint.inputs["vpcEndpointType"] == "Gateway"
    assert endpoint.inputs["serviceName"] == "com.amazonaws.us-west-2.s3"
    assert sorted(endpoint.property_dependencies["routeTableIds"]) == sorted(private)
    assert len(endpoint.inputs["routeTableIds"]) == len(set(endpoint.inputs["routeTableIds"])) == len(ZONES)


def test_an_additional_zone_changes_no_existing_resource() -> None:
    two = dict(list(ZONES.items())[:2])
    before, after = network(tuple(two), two), network(tuple(ZONES))
    later = {resource.urn: resource for resource in after}
    changed = [
        resource.name
        for resource in before
        if resource.custom and resource.type != KEY and resource.inputs != later[resource.urn].inputs
    ]

    assert changed == ["network-s3"]


def test_only_nodes_depend_on_the_gateway(single: Plan) -> None:
    """The control plane takes ten minutes to create and needs no gateway."""
    gateway, control, nodes = only(single, NAT), single.one(KEY, "control"), single.one(KEY, "nodes")
    subnets = [each for each in single.of(SUBNET) if "-private-" in each.name]

    assert (waits_for(single, control, gateway), waits_for(single, nodes, gateway)) == (False, True)
    assert all(waits_for(single, each, subnet) for each in (control, nodes) for subnet in subnets)
    assert control.inputs == nodes.inputs
