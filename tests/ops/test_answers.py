"""The stand-in answers: the same always, of the forms a cloud gives, under names the SDK knows."""

from __future__ import annotations

import re

import pytest
from pulumi import _types

from fakes import answers, answers_kubernetes
from fakes import answers_gcp as answers_google
from fakes.answers import Place
from fakes.aws import answers as answers_amazon
from tests.ops.sdk import sdk_class

pytestmark = pytest.mark.pure

TABLES = {**answers_amazon.MAKERS, **answers_google.MAKERS, **answers_kubernetes.MAKERS}
URN = "urn:pulumi:staging::gpu-ci::gpu-ci:aws:X$aws:x:X::thing"


@pytest.mark.parametrize("token", sorted(TABLES))
def test_every_answered_output_is_one_that_the_sdk_lists(token: str) -> None:
    known = set(_types.resource_py_to_pulumi_names(sdk_class(token)).values())

    answered = set(answers.computed(token, "thing", URN, {})[1])

    assert answered <= known


def test_the_same_resource_gets_the_same_answer() -> None:
    first = answers.created("aws:ec2/vpc:Vpc", "thing", URN, {"cidrBlock": "10.0.0.0/16"})
    second = answers.created("aws:ec2/vpc:Vpc", "thing", URN, {"cidrBlock": "10.0.0.0/16"})

    assert first == second


def test_two_resources_get_different_ids() -> None:
    ids = {answers.created("aws:ec2/subnet:Subnet", name, URN + name, {}).id for name in "abc"}

    assert len(ids) == 3


def test_the_outputs_hold_the_inputs_and_what_the_cloud_computed() -> None:
    answer = answers.created("aws:kms/key:Key", "thing", URN, {"enableKeyRotation": True})

    assert answer.outputs["enableKeyRotation"] is True
    assert answer.outputs["arn"] == f"arn:aws:kms:us-west-2:123456789012:key/{answer.id}"


def test_the_scaling_group_of_a_node_group_is_named_as_eks_names_it() -> None:
    inputs = {"clusterName": "gpu-ci", "nodeGroupName": "t4"}

    answer = answers.created("aws:eks/nodeGroup:NodeGroup", "thing", URN, inputs)

    name = answer.outputs["resources"][0]["autoscalingGroups"][0]["name"]
    assert re.fullmatch(r"eks-t4-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", name)
    assert answer.id == "gpu-ci:t4"


def test_an_arn_names_the_account_and_the_region_of_its_provider() -> None:
    place = Place().with_provider(
        "pulumi:providers:aws", {"region": "eu-central-1", "allowedAccountIds": '["111122223333"]'}
    )

    answer = answers.created("aws:ecr/repository:Repository", "thing", URN, {"name": "ci/cuda"}, place=place)

    assert answer.outputs["repositoryUrl"] == "111122223333.dkr.ecr.eu-central-1.amazonaws.com/ci/cuda"


def test_a_kubernetes_object_is_known_by_namespace_and_name() -> None:
    inputs = {"metadata": {"name": "runner", "namespace": "arc"}}

    answer = answers.created("kubernetes:core/v1:Secret", "thing", URN, inputs)

    assert answer.id == "arc/runner"
    assert answer.outputs["metadata"]["name"] == "runner"


def test_an_unknown_type_is_not_answered_with_an_invention() -> None:
    with pytest.raises(LookupError, match=r"aws:rds/instance:Instance"):
        answers.created("aws:rds/instance:Instance", "thing", URN, {})


def test_a_look_up_is_refused_by_name() -> None:
    with pytest.raises(LookupError, match=r"aws:ec2/getAmi:getAmi"):
        answers.looked_up("aws:ec2/getAmi:getAmi", {"owners": ["amazon"]})
