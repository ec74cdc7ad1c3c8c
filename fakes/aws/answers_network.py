"""What EC2 computes beside the inputs: networks, machines and what hangs on them.

Forms are those of AWS's own documentation of each resource as the pulumi-aws 7 SDK lists its outputs (2026-11).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from fakes.answers_asked import Asked, Made, Maker


def _ec2(prefix: str, kind: str, id_key: str | None = None) -> Maker:
    """Something EC2 keeps under an id of the form `prefix-17 digits`."""

    def make(asked: Asked) -> Made:
        id_ = f"{prefix}-{asked.hex(17)}"
        outputs: dict[str, Any] = {"arn": asked.arn("ec2", f"{kind}/{id_}")}
        if id_key:
            outputs[id_key] = id_
        return id_, outputs

    return make


def _vpc(asked: Asked) -> Made:
    id_ = f"vpc-{asked.hex(17)}"
    return id_, {
        "arn": asked.arn("ec2", f"vpc/{id_}"),
        "defaultNetworkAclId": f"acl-{asked.hex(17, 'acl')}",
        "defaultRouteTableId": f"rtb-{asked.hex(17, 'routes')}",
        "defaultSecurityGroupId": f"sg-{asked.hex(17, 'group')}",
        "mainRouteTableId": f"rtb-{asked.hex(17, 'routes')}",
        "dhcpOptionsId": f"dopt-{asked.hex(17, 'dhcp')}",
        "ownerId": asked.place.account,
    }


def _security_group(asked: Asked) -> Made:
    id_ = f"sg-{asked.hex(17)}"
    return id_, {
        "arn": asked.arn("ec2", f"security-group/{id_}"),
        "name": asked.physical(),
        "ownerId": asked.place.account,
    }


def _nat_gateway(asked: Asked) -> Made:
    id_ = f"nat-{asked.hex(17)}"
    return id_, {"networkInterfaceId": f"eni-{asked.hex(17, 'eni')}", "publicIp": _address(asked, "203.0.113")}


def _eip(asked: Asked) -> Made:
    id_ = f"eipalloc-{asked.hex(17)}"
    return id_, {
        "allocationId": id_,
        "arn": asked.arn("ec2", f"elastic-ip/{id_}"),
        "publicIp": _address(asked, "203.0.113"),
    }


def _address(asked: Asked, network: str) -> str:
    """An address of a range that is kept for documentation (RFC 5737) or private."""
    return f"{network}.{1 + int(asked.hex(4), 16) % 250}"


def _route(asked: Asked) -> Made:
    id_ = f"r-{asked.inputs.get('routeTableId', 'rtb')}{asked.number(10)}"
    return id_, {"origin": "CreateRoute", "state": "active"}


def _launch_template(asked: Asked) -> Made:
    id_ = f"lt-{asked.hex(17)}"
    return id_, {
        "arn": asked.arn("ec2", f"launch-template/{id_}"),
        "name": asked.physical(),
        "latestVersion": 1,
        "defaultVersion": 1,
    }


def _instance(asked: Asked) -> Made:
    id_ = f"i-{asked.hex(17)}"
    address = _address(asked, "10.0.0")
    return id_, {
        "arn": asked.arn("ec2", f"instance/{id_}"),
        "instanceState": "running",
        "primaryNetworkInterfaceId": f"eni-{asked.hex(17, 'eni')}",
        "privateIp": address,
        "privateDns": f"ip-{address.replace('.', '-')}.{asked.region}.compute.internal",
    }


def _association(prefix: str) -> Maker:
    """A link between two things: an id, and nothing else to know."""
    return lambda asked: (f"{prefix}-{asked.hex(17)}", {})


MAKERS: Final[dict[str, Maker]] = {
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": _security_group,
    "aws:ec2/eip:Eip": _eip,
    "aws:ec2/flowLog:FlowLog": _ec2("fl", "vpc-flow-log"),
    "aws:ec2/instance:Instance": _instance,
    "aws:ec2/internetGateway:InternetGateway": _ec2("igw", "internet-gateway"),
    "aws:ec2/launchTemplate:LaunchTemplate": _launch_template,
    "aws:ec2/natGateway:NatGateway": _nat_gateway,
    "aws:ec2/route:Route": _route,
    "aws:ec2/routeTable:RouteTable": _ec2("rtb", "route-table"),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": _association("rtbassoc"),
    "aws:ec2/securityGroup:SecurityGroup": _security_group,
    "aws:ec2/subnet:Subnet": _ec2("subnet", "subnet"),
    "aws:ec2/vpc:Vpc": _vpc,
    "aws:ec2/vpcEndpoint:VpcEndpoint": _ec2("vpce", "vpc-endpoint"),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _ec2(
        "sgr", "security-group-rule", "securityGroupRuleId"
    ),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _ec2(
        "sgr", "security-group-rule", "securityGroupRuleId"
    ),
}
"""How each type is answered."""
