"""IAM trust and permission documents as text. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def document(*statements: Mapping[str, Any]) -> str:
    """Return an IAM policy document. Equal statements give equal text, so that they cause no diff."""
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)}, sort_keys=True)


def allow(
    actions: Sequence[str], resources: Sequence[str], conditions: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a statement that allows `actions` on `resources`."""
    statement: dict[str, Any] = {"Effect": "Allow", "Action": sorted(actions), "Resource": list(resources)}
    return {**statement, "Condition": dict(conditions)} if conditions else statement


def service_trust(service: str) -> str:
    """Return a trust document for an AWS service, for example `ec2.amazonaws.com`."""
    return document({"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"})


def pod_identity_trust(namespace: str, service_account: str) -> str:
    """Return a trust document for the pods of one service account, through EKS Pod Identity.

    The conditions restrict the role to that account even if an association names another (AWS, "EKS Pod Identity
    role", 2026).
    """
    return document(
        {
            "Effect": "Allow",
            "Principal": {"Service": "pods.eks.amazonaws.com"},
            "Action": ["sts:AssumeRole", "sts:TagSession"],
            "Condition": {
                "StringEquals": {
                    "aws:RequestTag/kubernetes-namespace": namespace,
                    "aws:RequestTag/kubernetes-service-account": service_account,
                }
            },
        }
    )


def autoscaler_permissions(cluster_name: str) -> str:
    """Return the permissions of the Cluster Autoscaler: read every group, change only this cluster's groups.

    With `eks:DescribeNodegroup` it reads the labels and taints of an empty group (its AWS README, 1.35).
    """
    return document(
        allow(
            [
                "autoscaling:DescribeAutoScalingGroups",
                "autoscaling:DescribeAutoScalingInstances",
                "autoscaling:DescribeLaunchConfigurations",
                "autoscaling:DescribeScalingActivities",
                "autoscaling:DescribeTags",
                "ec2:DescribeImages",
                "ec2:DescribeInstanceTypes",
                "ec2:DescribeLaunchTemplateVersions",
                "ec2:GetInstanceTypesFromInstanceRequirements",
                "eks:DescribeNodegroup",
            ],
            ["*"],
        ),
        allow(
            ["autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup"],
            ["*"],
            {"StringEquals": {f"aws:ResourceTag/k8s.io/cluster-autoscaler/{cluster_name}": "owned"}},
        ),
    )


def key_policy(account: str, log_group_arn: str, region: str) -> str:
    """Return the policy of the cluster's key: the account's IAM policies, and CloudWatch for one log group."""
    return document(
        {
            "Sid": "Account",
            "Effect": "Allow",
            "Principal": {"AWS": f"arn:aws:iam::{account}:root"},
            "Action": "kms:*",
            "Resource": "*",
        },
        {
            "Sid": "Logs",
            "Effect": "Allow",
            "Principal": {"Service": f"logs.{region}.amazonaws.com"},
            "Action": ["kms:Decrypt*", "kms:Describe*", "kms:Encrypt*", "kms:GenerateDataKey*", "kms:ReEncrypt*"],
            "Resource": "*",
            "Condition": {"ArnEquals": {"kms:EncryptionContext:aws:logs:arn": log_group_arn}},
        },
    )
