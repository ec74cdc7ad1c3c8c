"""What AWS knows of networks and machines.

What replaces a thing is `ForceNew` in the resources of hashicorp/terraform-provider-aws 6.x, on which pulumi-aws 7
stands; what is refused, and in which words, is from the EC2 API's list of error codes (both as of 2026-11).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fakes.aws.names import (
    ADDRESS,
    INSTANCE,
    INSTANCE_PROFILE,
    INTERNET_GATEWAY,
    LAUNCH_TEMPLATE,
    NAT_GATEWAY,
    ROUTE,
    ROUTE_TABLE,
    ROUTE_TABLE_ASSOCIATION,
    SECURITY_GROUP,
    SUBNET,
    VPC,
)
from fakes.kinds import Kind, Reference

if TYPE_CHECKING:
    from fakes.cloud import Cloud
    from fakes.objects import Thing


NO_VPC: Final = "InvalidVpcID.NotFound: The vpc ID '{value}' does not exist"
NO_SUBNET: Final = "InvalidSubnetID.NotFound: The subnet ID '{value}' does not exist"
NO_GROUP: Final = "InvalidGroup.NotFound: The security group '{value}' does not exist"
# The cluster's own group is EKS's doing and no resource of the stack.
_GROUPS = Reference("securityGroupIds.*", SECURITY_GROUP, missing=NO_GROUP, foreign="^sg-")


def _in_use(noun: str) -> str:
    return f"DependencyViolation: The {noun} '{{id}}' has dependencies and cannot be deleted. (held by {{holder}})"


def _way_out(cloud: Cloud, gateway: Thing) -> str | None:
    """A NAT gateway in a subnet without a route to the internet comes up failed."""
    subnet = gateway.inputs.get("subnetId")
    if gateway.inputs.get("connectivityType") == "private" or subnet is None:
        return None
    tables = {
        link.inputs.get("routeTableId")
        for link in cloud.of(ROUTE_TABLE_ASSOCIATION)
        if link.inputs.get("subnetId") == subnet
    }
    routes = [route for route in cloud.of(ROUTE) if route.inputs.get("gatewayId")]
    inside = [table for table in cloud.of(ROUTE_TABLE) if any("gatewayId" in r for r in table.inputs.get("routes", []))]
    if any(not tables or route.inputs.get("routeTableId") in tables for route in routes) or inside:
        return None
    return f"NotAttached: nat gateway in {subnet} has state failed: the subnet's network has no internet gateway route"


KINDS: Final = (
    Kind(
        type=VPC,
        in_use=_in_use("vpc"),
        replaced_by=frozenset({"cidrBlock", "ipv4IpamPoolId", "ipv6IpamPoolId"}),
        words={"instanceTenancy": ("default", "dedicated", "host")},
    ),
    Kind(
        type=SUBNET,
        identity=("vpcId", "cidrBlock"),
        taken="InvalidSubnet.Conflict: The CIDR '{1}' conflicts with another subnet",
        references=[Reference("vpcId", VPC, missing=NO_VPC)],
        in_use=_in_use("subnet"),
        replaced_by=frozenset({"vpcId", "cidrBlock", "availabilityZone", "availabilityZoneId", "ipv6Native"}),
    ),
    Kind(
        type=INTERNET_GATEWAY,
        references=[Reference("vpcId", VPC, missing=NO_VPC)],
        in_use=(
            "DependencyViolation: Network of {id} has some mapped public address(es). Please unmap those public "
            "address(es) before detaching the gateway. (held by {holder})"
        ),
    ),
    Kind(
        type=NAT_GATEWAY,
        references=[
            Reference("subnetId", SUBNET, missing=NO_SUBNET),
            Reference(
                "allocationId",
                ADDRESS,
                missing="InvalidAllocationID.NotFound: The allocation ID '{value}' does not exist",
            ),
            Reference("subnetId", INTERNET_GATEWAY, by="vpcId", through=SUBNET),
        ],
        replaced_by=frozenset({"subnetId", "allocationId", "connectivityType", "privateIp", "availabilityMode"}),
        words={"connectivityType": ("private", "public")},
        slow=True,
        before_create=[_way_out],
    ),
    Kind(
        type=ADDRESS,
        in_use="InvalidIPAddress.InUse: Address with allocation id [{id}] is in use by {holder}",
        replaced_by=frozenset({"domain", "publicIpv4Pool", "networkBorderGroup", "address"}),
    ),
    Kind(
        type=ROUTE_TABLE,
        references=[Reference("vpcId", VPC, missing=NO_VPC)],
        in_use=_in_use("routeTable"),
        replaced_by=frozenset({"vpcId"}),
    ),
    Kind(
        type=ROUTE,
        identity=("routeTableId", "destinationCidrBlock", "destinationIpv6CidrBlock", "destinationPrefixListId"),
        taken="RouteAlreadyExists: The route identified by {1} already exists",
        references=[
            Reference(
                "routeTableId",
                ROUTE_TABLE,
                missing="InvalidRouteTableID.NotFound: The routeTable ID '{value}' does not exist",
                holds=False,
                follows=True,
            ),
            Reference(
                "gatewayId",
                INTERNET_GATEWAY,
                missing="InvalidGatewayID.NotFound: The gateway ID '{value}' does not exist",
                holds=False,
            ),
            Reference(
                "natGatewayId",
                NAT_GATEWAY,
                missing="InvalidNatGatewayID.NotFound: The natGateway ID '{value}' does not exist",
                holds=False,
            ),
        ],
        replaced_by=frozenset({"routeTableId", "destinationCidrBlock", "destinationIpv6CidrBlock"}),
    ),
    Kind(
        type=ROUTE_TABLE_ASSOCIATION,
        identity=("subnetId", "gatewayId"),
        taken="Resource.AlreadyAssociated: the specified association for subnet {0} conflicts with an existing one",
        references=[
            Reference("subnetId", SUBNET, missing=NO_SUBNET, holds=False, follows=True),
            Reference(
                "routeTableId",
                ROUTE_TABLE,
                missing="InvalidRouteTableID.NotFound: The routeTable ID '{value}' does not exist",
            ),
        ],
        replaced_by=frozenset({"subnetId", "gatewayId"}),
    ),
    Kind(
        type="aws:ec2/vpcEndpoint:VpcEndpoint",
        references=[
            Reference("vpcId", VPC, missing=NO_VPC),
            Reference("subnetIds.*", SUBNET, missing=NO_SUBNET),
            Reference("routeTableIds.*", ROUTE_TABLE, holds=False),
            _GROUPS,
        ],
        replaced_by=frozenset({"vpcId", "serviceName", "vpcEndpointType", "serviceRegion"}),
        words={"vpcEndpointType": ("Gateway", "GatewayLoadBalancer", "Interface", "Resource", "ServiceNetwork")},
        slow=True,
    ),
    Kind(
        type=SECURITY_GROUP,
        identity=("vpcId", "name"),
        taken="InvalidGroup.Duplicate: The security group '{1}' already exists for VPC '{0}'",
        references=[Reference("vpcId", VPC, missing=NO_VPC)],
        in_use="DependencyViolation: resource {id} has a dependent object (held by {holder})",
        replaced_by=frozenset({"name", "namePrefix", "vpcId", "description"}),
        delete_first="name",
        lengths={"name": 255},
    ),
    *(
        Kind(
            type=f"aws:vpc/securityGroup{way}Rule:SecurityGroup{way}Rule",
            references=[
                Reference(
                    "securityGroupId", SECURITY_GROUP, missing=NO_GROUP, foreign="^sg-", holds=False, follows=True
                ),
                Reference("referencedSecurityGroupId", SECURITY_GROUP, missing=NO_GROUP, foreign="^sg-"),
            ],
            replaced_by=frozenset({"securityGroupId"}),
        )
        for way in ("Ingress", "Egress")
    ),
    Kind(
        type="aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
        references=[Reference("vpcId", VPC, missing=NO_VPC, holds=False, follows=True)],
        replaced_by=frozenset({"vpcId"}),
    ),
    Kind(
        type="aws:ec2/flowLog:FlowLog",
        references=[Reference("vpcId", VPC, missing=NO_VPC, holds=False, follows=True)],
        replaced_by=frozenset({"vpcId", "logDestination", "iamRoleArn", "trafficType"}),
    ),
    Kind(
        type=LAUNCH_TEMPLATE,
        identity=("name",),
        taken="InvalidLaunchTemplateName.AlreadyExistsException: Launch template name already in use. ({0})",
        references=[Reference("vpcSecurityGroupIds.*", SECURITY_GROUP, missing=NO_GROUP, foreign="^sg-")],
        replaced_by=frozenset({"name", "namePrefix"}),
        delete_first="name",
        lengths={"name": 128},
        bumped=("latestVersion", "defaultVersion"),
    ),
    Kind(
        type=INSTANCE,
        references=[
            Reference("subnetId", SUBNET, missing=NO_SUBNET),
            Reference("vpcSecurityGroupIds.*", SECURITY_GROUP, missing=NO_GROUP),
            Reference(
                "iamInstanceProfile",
                INSTANCE_PROFILE,
                by="name",
                missing="InvalidParameterValue: Value ({value}) for parameter iamInstanceProfile.name is invalid. "
                "Invalid IAM Instance Profile name",
                holds=False,
            ),
        ],
        replaced_by=frozenset(
            {
                "ami",
                "availabilityZone",
                "subnetId",
                "keyName",
                "privateIp",
                "tenancy",
                "hibernation",
                "instanceMarketOptions",
                "rootBlockDevice.encrypted",
                "rootBlockDevice.kmsKeyId",
            }
        ),
        words={"instanceInitiatedShutdownBehavior": ("stop", "terminate")},
        slow=True,
    ),
)
"""Every type of this chapter."""
