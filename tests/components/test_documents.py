"""Trust and permissions are as narrow as they are meant, and have one form each."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.aws import documents
from components.aws.images.lifecycle import lifecycle_policy

pytestmark = pytest.mark.pure


def statements(text: str) -> list[dict[str, Any]]:
    document = json.loads(text)

    assert document["Version"] == "2012-10-17"
    found: list[dict[str, Any]] = document["Statement"]
    return found


def test_a_document_does_not_depend_on_the_order_of_its_inputs() -> None:
    """Another order of the same words would be a change at every update."""
    one = documents.document(documents.allow(["b:B", "a:A"], ["*"]))
    other = documents.document(documents.allow(["a:A", "b:B"], ["*"]))

    assert one == other
    assert json.dumps(json.loads(one), sort_keys=True) == one


def test_the_trust_of_a_service_names_only_the_service() -> None:
    (statement,) = statements(documents.service_trust("ec2.amazonaws.com"))

    assert statement == {
        "Effect": "Allow",
        "Principal": {"Service": "ec2.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }


def test_the_trust_of_a_workload_is_limited_to_its_service_account() -> None:
    """Without `sts:TagSession` Pod Identity cannot say whose pod asks, and gives nothing."""
    (statement,) = statements(documents.pod_identity_trust("kube-system", "cluster-autoscaler"))

    assert statement["Principal"] == {"Service": "pods.eks.amazonaws.com"}
    assert statement["Action"] == ["sts:AssumeRole", "sts:TagSession"]
    assert statement["Condition"] == {
        "StringEquals": {
            "aws:RequestTag/kubernetes-namespace": "kube-system",
            "aws:RequestTag/kubernetes-service-account": "cluster-autoscaler",
        }
    }


def test_the_autoscaler_reads_every_group_and_changes_only_groups_of_its_cluster() -> None:
    look, change = statements(documents.autoscaler_permissions("gpu-ci-staging"))

    assert all(action.split(":")[1].startswith(("Describe", "Get")) for action in look["Action"])
    assert "eks:DescribeNodegroup" in look["Action"]
    assert change["Action"] == ["autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup"]
    assert change["Condition"] == {
        "StringEquals": {"aws:ResourceTag/k8s.io/cluster-autoscaler/gpu-ci-staging": "owned"}
    }


def test_only_its_account_and_one_log_group_use_the_key() -> None:
    arn = "arn:aws:logs:us-west-2:123456789012:log-group:/aws/eks/x/cluster"
    account, logs = statements(documents.key_policy("123456789012", arn, "us-west-2"))

    assert account["Principal"] == {"AWS": "arn:aws:iam::123456789012:root"}
    assert logs["Principal"] == {"Service": "logs.us-west-2.amazonaws.com"}
    assert logs["Condition"] == {"ArnEquals": {"kms:EncryptionContext:aws:logs:arn": arn}}
    assert "kms:*" not in logs["Action"]


@pytest.mark.parametrize("pull_request_days", [0, 14])
def test_the_lifecycle_rules_are_valid_for_ecr(pull_request_days: int) -> None:
    """ECR wants priorities that differ, `any` last and once, and a unit with a count of days and with no other."""
    text = lifecycle_policy(keep=30, untagged_days=3, pull_request_days=pull_request_days)
    rules = json.loads(text)["rules"]
    order = [rule["rulePriority"] for rule in rules]
    selections = [rule["selection"] for rule in rules]

    assert order == sorted(set(order))
    assert [each["tagStatus"] for each in selections] == ["untagged", *["tagged"] * bool(pull_request_days), "any"]
    assert all(("countUnit" in each) == each["countType"].startswith("since") for each in selections)
    assert all(("tagPatternList" in each) == (each["tagStatus"] == "tagged") for each in selections)
    assert all(rule["action"] == {"type": "expire"} for rule in rules)


def test_the_lifecycle_rules_have_the_stated_numbers() -> None:
    rules = json.loads(lifecycle_policy(keep=30, untagged_days=3, pull_request_days=14))["rules"]

    assert [(rule["selection"]["countType"], rule["selection"]["countNumber"]) for rule in rules] == [
        ("sinceImagePushed", 3),
        ("sinceImagePushed", 14),
        ("imageCountMoreThan", 30),
    ]
    assert rules[1]["selection"]["tagPatternList"] == ["pr-*"]
