"""Tests of the networks of cirun's machines on AWS: closed, one in each region, with internet access."""

from __future__ import annotations

import json

import pytest

from components.aws.network.runner_network import RunnerNetwork, RunnerNetworkArgs
from ops.plan.model import Plan
from tests.components.made import made, names, waits_for
from tests.plan.stacks import planned

pytestmark = pytest.mark.plan

VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"
GROUP = "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup"
EXAMPLE = "examples/cirun-aws.yaml"


@pytest.fixture(scope="module")
def plan() -> Plan:
    zones = {"us-east-1": ["us-east-1a", "us-east-1c"], "us-west-2": []}
    args = RunnerNetworkArgs(title="gpu-ci-small-cirun", zones=zones)
    return made(lambda here: RunnerNetwork("cirun-network", args, here))


def test_every_region_has_its_own_network(plan: Plan) -> None:
    assert {one.name: one.inputs["region"] for one in plan.of(VPC)} == {
        "cirun-network-us-east-1": "us-east-1",
        "cirun-network-us-west-2": "us-west-2",
    }
    assert {one.inputs["region"] for one in plan if one.type.startswith("aws:ec2/")} == {"us-east-1", "us-west-2"}


def test_a_network_accepts_no_connection_from_outside(plan: Plan) -> None:
    """A machine without a stated security group gets the default one of its network."""
    groups = plan.of(GROUP)

    assert [one.inputs.get("ingress") for one in groups] == [None, None]
    assert [one.inputs["egress"][0]["cidrBlocks"] for one in groups] == [["0.0.0.0/0"], ["0.0.0.0/0"]]


def test_a_subnet_is_in_a_stated_zone_or_where_aws_chooses(plan: Plan) -> None:
    found = {one.name: (one.inputs.get("availabilityZone"), one.inputs["cidrBlock"]) for one in plan.of(SUBNET)}

    assert found == {
        "cirun-network-us-east-1a": ("us-east-1a", "10.0.0.0/20"),
        "cirun-network-us-east-1c": ("us-east-1c", "10.0.32.0/20"),
        "cirun-network-us-west-2": (None, "10.0.0.0/20"),
    }


def test_every_subnet_has_a_default_route(plan: Plan) -> None:
    assert names(plan, "aws:ec2/routeTableAssociation:RouteTableAssociation") == names(plan, SUBNET)
    assert [one.inputs["destinationCidrBlock"] for one in plan.of("aws:ec2/route:Route")] == ["0.0.0.0/0"] * 2


def test_cirun_s_user_may_launch_into_these_networks_only() -> None:
    example = planned(EXAMPLE)
    (policy,) = example.of("aws:iam/userPolicy:UserPolicy")
    (inside,) = [one for one in json.loads(policy.inputs["policy"])["Statement"] if one["Sid"] == "LaunchIn"]

    assert len(inside["Condition"]["ArnEquals"]["ec2:Vpc"]) == len(example.of(VPC)) == 2
    assert all(waits_for(example, policy, vpc) for vpc in example.of(VPC))
