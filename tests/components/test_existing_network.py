"""A stack in an existing VPC declares nothing of the VPC, and uses the stated subnets."""

from __future__ import annotations

from typing import Final

import pytest

from ops.fakes.cloud.cloud import Cloud
from ops.fakes.cloud.kinds import RefusedError
from ops.fakes.cloud.objects import Caller
from ops.fakes.tables import kind_of
from tests.plan.stacks import planned

FILE: Final = "examples/eks-existing-vpc.yaml"
SUBNETS: Final = ["subnet-0a1b2c3d4e5f60719", "subnet-0a1b2c3d4e5f6071a"]
OF_A_VPC: Final = ("vpc", "subnet", "route", "internetGateway", "natGateway", "eip", "securityGroup", "flowLog", "tag")

pytestmark = pytest.mark.plan


def test_nothing_of_the_vpc_is_declared() -> None:
    parts = [one.type for one in planned(FILE) if one.type.startswith("aws:ec2/")]

    assert not [type_ for type_ in parts if type_.split("/")[1].split(":")[0].startswith(OF_A_VPC)]


def test_control_plane_and_nodes_are_in_the_stated_subnets() -> None:
    plan = planned(FILE)

    assert plan.one("aws:eks/cluster:Cluster", "cluster").inputs["vpcConfig"]["subnetIds"] == SUBNETS
    assert {tuple(one.inputs["subnetIds"]) for one in plan.of("aws:eks/nodeGroup:NodeGroup")} == {tuple(SUBNETS)}


@pytest.mark.parametrize(
    ("outside", "refused"),
    [
        ({}, "The subnet ID 'subnet-0a1b2c3d4e5f60719' does not exist"),
        (dict.fromkeys(SUBNETS, "us-east-1a"), "Subnets specified must be in at least two different AZs"),
    ],
)
def test_the_fake_eks_refuses_wrong_subnets(outside: dict[str, str], refused: str) -> None:
    cloud = Cloud(kinds=kind_of, outside=outside)
    role = cloud.put("aws:iam/role:Role", "cluster", {"name": "cluster"}, Caller())
    policy = "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
    cloud.put(
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment", "p", {"role": "cluster", "policyArn": policy}, Caller()
    )
    inputs = {"name": "c", "roleArn": role.at("arn"), "vpcConfig": {"subnetIds": SUBNETS}}

    with pytest.raises(RefusedError, match=refused):
        cloud.create("aws:eks/cluster:Cluster", "cluster", "urn", inputs, Caller())
