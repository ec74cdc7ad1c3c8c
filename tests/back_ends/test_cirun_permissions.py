"""Permissions of cirun: the allowed actions, and the actions that must be refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gpu_ci.back_ends.cirun_aws.permissions import policy as aws_policy
from gpu_ci.back_ends.cirun_gcp.permissions import permissions as gcp_permissions

pytestmark = pytest.mark.pure

VPC = "arn:aws:ec2:us-west-2:123456789012:vpc/vpc-1"


def policy(**options: Any) -> dict[str, Any]:
    stated: dict[str, Any] = {
        "account": "123456789012",
        "vpcs": {"us-west-2": VPC},
        "instance_types": ["g4dn.xlarge"],
        "spot": True,
        "stated": True,
    }
    return aws_policy(**(stated | options))


def allowed(document: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for statement in document["Statement"]:
        for action in statement["Action"]:
            found.setdefault(action, []).append(statement)
    return found


def test_an_instance_of_another_type_cannot_be_started() -> None:
    instance = [
        statement
        for statement in allowed(policy())["ec2:RunInstances"]
        if any(resource.endswith(":instance/*") for resource in statement["Resource"])
    ]

    assert [statement["Condition"]["StringEquals"] for statement in instance] == [
        {"aws:RequestedRegion": ["us-west-2"], "ec2:InstanceType": ["g4dn.xlarge"]}
    ]


def test_every_ec2_statement_is_limited_to_the_regions() -> None:
    loose = [
        statement["Sid"]
        for statement in policy()["Statement"]
        if any(action.startswith("ec2:") for action in statement["Action"])
        and statement.get("Condition", {}).get("StringEquals", {}).get("aws:RequestedRegion") != ["us-west-2"]
    ]

    assert loose == ["SeeRegions"]


def test_the_list_of_regions_is_readable_in_every_region() -> None:
    """The default region of cirun may be none of the runners' regions."""
    (anywhere,) = allowed(policy())["ec2:DescribeRegions"]

    assert "Condition" not in anywhere


def test_only_machines_of_the_stated_types_can_be_terminated() -> None:
    for statement in allowed(policy())["ec2:TerminateInstances"]:
        assert statement["Condition"]["StringEquals"]["ec2:InstanceType"] == ["g4dn.xlarge"]


def test_machines_start_only_in_the_network_of_cirun() -> None:
    """A subnet, a security group and a network interface of another network are refused."""
    for action in ("ec2:RunInstances", "ec2:RequestSpotInstances"):
        (inside,) = [one for one in allowed(policy())[action] if any(r.endswith(":subnet/*") for r in one["Resource"])]

        assert sorted(r.rpartition(":")[2] for r in inside["Resource"]) == [
            "network-interface/*",
            "security-group/*",
            "subnet/*",
        ]
        assert inside["Condition"]["ArnEquals"] == {"ec2:Vpc": [VPC]}


def test_without_stated_subnets_no_machine_starts_in_a_cluster_network() -> None:
    (inside,) = [one for one in policy(stated=False)["Statement"] if one["Sid"] == "LaunchIn"]

    assert inside["Condition"]["Null"] == {
        "aws:ResourceTag/kubernetes.io/role/elb": "true",
        "aws:ResourceTag/kubernetes.io/role/internal-elb": "true",
    }


def test_no_security_group_can_be_opened_or_created() -> None:
    assert [action for action in allowed(policy()) if "SecurityGroup" in action] == []


@pytest.mark.parametrize("action", ["ec2:StopInstances", "ec2:TerminateInstances", "ec2:CancelSpotInstanceRequests"])
def test_no_cluster_node_can_be_terminated(action: str) -> None:
    """A node has the type of a runner, too. Its tags tell it from cirun's machines."""
    for statement in allowed(policy())[action]:
        assert statement["Condition"]["Null"] == {
            "aws:ResourceTag/ManagedBy": "true",
            "aws:ResourceTag/aws:autoscaling:groupName": "true",
            "aws:ResourceTag/eks:cluster-name": "true",
        }


def test_only_the_list_of_regions_has_no_condition() -> None:
    assert [one["Sid"] for one in policy()["Statement"] if not one.get("Condition")] == ["SeeRegions"]


def test_no_statement_allows_every_action_or_passing_a_role() -> None:
    actions = set(allowed(policy()))

    assert not {action for action in actions if action.endswith("*") and action != "ec2:Describe*"}
    assert "iam:PassRole" not in actions


def test_spot_permissions_exist_only_if_a_runner_uses_spot() -> None:
    assert "ec2:RequestSpotInstances" in allowed(policy())
    assert not {"ec2:RequestSpotInstances", "iam:CreateServiceLinkedRole"} & set(allowed(policy(spot=False)))


def test_tags_can_only_be_set_at_creation() -> None:
    for statement in allowed(policy())["ec2:CreateTags"]:
        assert "RunInstances" in statement["Condition"]["StringEquals"]["ec2:CreateAction"]


def test_the_order_of_the_inputs_does_not_change_the_document() -> None:
    one = policy(vpcs={"us-west-2": VPC, "eu-west-1": "x"}, instance_types=["g5.xlarge", "g4dn.xlarge"])
    other = policy(vpcs={"eu-west-1": "x", "us-west-2": VPC}, instance_types=["g4dn.xlarge", "g5.xlarge"])

    assert json.dumps(one) == json.dumps(other)
    assert len(json.dumps(one)) < 6144  # the most a managed policy may have


def test_gcp_permissions_start_and_delete_machines_and_grant_nothing() -> None:
    permissions = gcp_permissions()

    assert {"compute.instances.create", "compute.instances.delete", "compute.images.useReadOnly"} <= set(permissions)
    assert not [name for name in permissions if name.endswith("setIamPolicy") or not name.startswith("compute.")]
    assert not {"compute.images.create", "compute.images.delete", "compute.firewalls.create"} & set(permissions)
    assert list(permissions) == sorted(set(permissions))
