"""A stack in an existing cluster adds pools and runners, and declares nothing of the cluster."""

from __future__ import annotations

import json
from typing import Final

import pytest

from ops.fakes.cloud.cloud import Cloud
from ops.fakes.cloud.kinds import RefusedError
from ops.fakes.cloud.objects import Caller
from ops.fakes.tables import kind_of
from tests.plan.stacks import planned
from tests.stack_file import stacks
from tests.tables import OUT

FILE: Final = "examples/eks-existing-cluster.yaml"
ARN: Final = "arn:aws:eks:us-east-1:123456789012:cluster/platform"
GROUP: Final = "aws:eks/nodeGroup:NodeGroup"

pytestmark = pytest.mark.plan


def test_only_pools_and_roles_are_declared_on_aws() -> None:
    kinds = {one.type for one in planned(FILE) if one.type.startswith("aws:")}

    assert kinds == {
        "aws:autoscaling/tag:Tag",
        "aws:ec2/launchTemplate:LaunchTemplate",
        GROUP,
        "aws:eks/podIdentityAssociation:PodIdentityAssociation",
        "aws:iam/role:Role",
        "aws:iam/rolePolicy:RolePolicy",
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
    }


def test_a_pool_joins_the_existing_cluster() -> None:
    assert planned(FILE).one(GROUP, "pool-t4-spot").inputs["clusterName"] == "platform"


def test_the_provider_is_known_by_the_arn_and_waits_for_the_pools() -> None:
    plan = planned(FILE)
    provider = plan.one("pulumi:providers:kubernetes", "kubernetes")

    assert provider.inputs["clusterIdentifier"] == ARN
    assert plan.one(GROUP, "pool-t4-spot").urn in provider.dependencies


def test_the_kubeconfig_has_the_stated_facts_and_no_credentials() -> None:
    existing = stacks.sections(FILE)["cluster"]["existing"]
    written = json.loads(planned(FILE).one("pulumi:providers:kubernetes", "kubernetes").inputs["kubeconfig"])
    (cluster,), (user,) = written["clusters"], written["users"]

    assert cluster["cluster"] == {
        "server": existing["endpoint"],
        "certificate-authority-data": existing["certificate-authority"],
    }
    assert user["user"].keys() == {"exec"}


def test_the_role_of_the_nodes_may_also_serve_the_network_add_on() -> None:
    attached = [
        one.inputs["policyArn"] for one in planned(FILE).of("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
    ]

    assert "arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy" in attached


def test_the_autoscaler_finds_the_groups_of_the_existing_cluster() -> None:
    (policy,) = planned(FILE).of("aws:iam/rolePolicy:RolePolicy")

    assert "platform" in str(policy.inputs["policy"])


def test_pools_scale_without_a_section_where_the_cluster_has_an_autoscaler() -> None:
    add_ons = [*stacks.sections(FILE)["cluster"]["existing"]["add-ons"], "cluster-autoscaler"]
    changes = {"autoscaler": OUT, "cluster/existing/add-ons": add_ons}

    assert stacks.faults(stacks.sections(FILE, changes)) == []
    assert stacks.faults(stacks.sections(FILE, {"autoscaler": OUT})) != []


def test_the_fake_eks_refuses_a_pool_of_an_unknown_cluster() -> None:
    inputs = {"clusterName": "platform", "nodeGroupNamePrefix": "t4-", "scalingConfig": {"minSize": 0}}

    with pytest.raises(RefusedError, match="No cluster found for name: platform"):
        Cloud(kinds=kind_of).create(GROUP, "pool", "urn", inputs, Caller())
