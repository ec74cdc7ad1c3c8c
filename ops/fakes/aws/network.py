"""EC2: networks, gateways, routes and launch templates.

Sources: `ForceNew` in hashicorp/terraform-provider-aws 6.x for replacements, the error codes of the EC2 API for
refusals, the outputs of the pulumi-aws 7 SDK for answers (2026-11).
"""

from __future__ import annotations

from typing import Final

from ops.fakes.aws.names import (
    ADDRESS,
    INTERNET_GATEWAY,
    LAUNCH_TEMPLATE,
    NAT_GATEWAY,
    ROUTE,
    ROUTE_TABLE,
    ROUTE_TABLE_ASSOCIATION,
    SUBNET,
    VPC,
)
from ops.fakes.cloud.kinds import Kind, Reference
from ops.fakes.cloud.objects import CloudObject, Objects
from ops.fakes.cloud.request import Answer, Created, Request


def _missing(code: str, noun: str) -> str:
    return f"Invalid{code}.NotFound: The {noun} ID '{{value}}' does not exist"


def _in_use(noun: str) -> str:
    return f"DependencyViolation: The {noun} '{{id}}' has dependencies and cannot be deleted. (held by {{holder}})"


_VPC: Final = Reference("vpcId", VPC, missing=_missing("VpcID", "vpc"))
_NO_SUBNET: Final = _missing("SubnetID", "subnet")
_NO_ROUTE_TABLE: Final = _missing("RouteTableID", "routeTable")


def _ec2(prefix: str, noun: str) -> Answer:
    """Return the answer for an object with a generated id and an ARN."""

    def answer(request: Request) -> Created:
        id_ = f"{prefix}-{request.hex(17)}"
        return id_, {"arn": request.arn("ec2", f"{noun}/{id_}")}

    return answer


def _vpc(request: Request) -> Created:
    id_, outputs = _ec2("vpc", "vpc")(request)
    return id_, {
        **outputs,
        "defaultNetworkAclId": f"acl-{request.hex(17, 'acl')}",
        "defaultRouteTableId": f"rtb-{request.hex(17, 'routes')}",
        "defaultSecurityGroupId": f"sg-{request.hex(17, 'group')}",
        "mainRouteTableId": f"rtb-{request.hex(17, 'routes')}",
        "dhcpOptionsId": f"dopt-{request.hex(17, 'dhcp')}",
        "ownerId": request.place.account,
    }


def _public_ip(request: Request) -> str:
    """Return an address of the range for documentation (RFC 5737)."""
    return f"203.0.113.{1 + int(request.hex(4), 16) % 250}"


def _nat_gateway(request: Request) -> Created:
    id_ = f"nat-{request.hex(17)}"
    return id_, {"networkInterfaceId": f"eni-{request.hex(17, 'eni')}", "publicIp": _public_ip(request)}


def _address(request: Request) -> Created:
    id_, outputs = _ec2("eipalloc", "elastic-ip")(request)
    return id_, {**outputs, "allocationId": id_, "publicIp": _public_ip(request)}


def _route(request: Request) -> Created:
    id_ = f"r-{request.inputs.get('routeTableId', 'rtb')}{request.number(10)}"
    return id_, {"origin": "CreateRoute", "state": "active"}


def _launch_template(request: Request) -> Created:
    id_, outputs = _ec2("lt", "launch-template")(request)
    return id_, {**outputs, "name": request.physical(), "latestVersion": 1, "defaultVersion": 1}


def _has_internet_route(cloud: Objects, gateway: CloudObject) -> str | None:
    """Refuse a public NAT gateway in a subnet without a route to the internet: it ends in the state `failed`."""
    subnet = gateway.inputs.get("subnetId")
    if gateway.inputs.get("connectivityType") == "private" or subnet is None:
        return None
    tables = {
        link.inputs.get("routeTableId")
        for link in cloud.of(ROUTE_TABLE_ASSOCIATION)
        if link.inputs.get("subnetId") == subnet
    }
    routes = [route for route in cloud.of(ROUTE) if route.inputs.get("gatewayId")]
    if any(not tables or route.inputs.get("routeTableId") in tables for route in routes):
        return None
    return f"NotAttached: nat gateway in {subnet} has state failed: the subnet's network has no internet gateway route"


TABLE: Final = (
    Kind(
        type=VPC,
        answer=_vpc,
        in_use=_in_use("vpc"),
        choices={"instanceTenancy": ("default", "dedicated", "host")},
    ),
    Kind(
        type=SUBNET,
        answer=_ec2("subnet", "subnet"),
        identity=("vpcId", "cidrBlock"),
        taken="InvalidSubnet.Conflict: The CIDR '{1}' conflicts with another subnet",
        references=[_VPC],
        in_use=_in_use("subnet"),
    ),
    Kind(
        type=INTERNET_GATEWAY,
        answer=_ec2("igw", "internet-gateway"),
        references=[_VPC],
        in_use=(
            "DependencyViolation: Network of {id} has some mapped public address(es). Please unmap those public "
            "address(es) before detaching the gateway. (held by {holder})"
        ),
    ),
    Kind(
        type=NAT_GATEWAY,
        answer=_nat_gateway,
        references=[
            Reference("subnetId", SUBNET, missing=_NO_SUBNET),
            Reference("allocationId", ADDRESS, missing=_missing("AllocationID", "allocation")),
            Reference("subnetId", INTERNET_GATEWAY, by="vpcId", through=SUBNET),
        ],
        choices={"connectivityType": ("private", "public")},
        slow=True,
        before_create=[_has_internet_route],
    ),
    Kind(
        type=ADDRESS,
        answer=_address,
        in_use="InvalidIPAddress.InUse: Address with allocation id [{id}] is in use by {holder}",
    ),
    Kind(
        type=ROUTE_TABLE,
        answer=_ec2("rtb", "route-table"),
        references=[_VPC],
        in_use=_in_use("routeTable"),
    ),
    Kind(
        type=ROUTE,
        answer=_route,
        identity=("routeTableId", "destinationCidrBlock", "destinationIpv6CidrBlock", "destinationPrefixListId"),
        taken="RouteAlreadyExists: The route identified by {1} already exists",
        references=[
            Reference("routeTableId", ROUTE_TABLE, missing=_NO_ROUTE_TABLE, blocks=False, cascades=True),
            Reference("gatewayId", INTERNET_GATEWAY, missing=_missing("GatewayID", "gateway"), blocks=False),
            Reference("natGatewayId", NAT_GATEWAY, missing=_missing("NatGatewayID", "natGateway"), blocks=False),
        ],
    ),
    Kind(
        type=ROUTE_TABLE_ASSOCIATION,
        answer=lambda request: (f"rtbassoc-{request.hex(17)}", {}),
        identity=("subnetId", "gatewayId"),
        taken="Resource.AlreadyAssociated: the specified association for subnet {0} conflicts with an existing one",
        references=[
            Reference("subnetId", SUBNET, missing=_NO_SUBNET, blocks=False, cascades=True),
            Reference("routeTableId", ROUTE_TABLE, missing=_NO_ROUTE_TABLE),
        ],
    ),
    Kind(
        type="aws:ec2/vpcEndpoint:VpcEndpoint",
        answer=_ec2("vpce", "vpc-endpoint"),
        references=[
            _VPC,
            Reference("subnetIds.*", SUBNET, missing=_NO_SUBNET),
            Reference("routeTableIds.*", ROUTE_TABLE, blocks=False),
        ],
        choices={"vpcEndpointType": ("Gateway", "GatewayLoadBalancer", "Interface", "Resource", "ServiceNetwork")},
        slow=True,
    ),
    Kind(
        type=LAUNCH_TEMPLATE,
        answer=_launch_template,
        identity=("name",),
        taken="InvalidLaunchTemplateName.AlreadyExistsException: Launch template name already in use. ({0})",
        delete_first="name",
        max_lengths={"name": 128},
        counters=("latestVersion", "defaultVersion"),
    ),
)
