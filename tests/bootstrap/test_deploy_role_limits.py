"""The role that deploys makes the calls of its stack, and changes nothing outside: each call with its tags."""

from __future__ import annotations

from typing import Final

import pytest

from bootstrap.grants import Place
from bootstrap.permissions_aws import deploy_policies
from bootstrap.settings import PROJECT as OWN
from gpu_ci.stack_file.identity import PROJECT, own_tags
from tests.components.iam import allowed

pytestmark = pytest.mark.pure

STAGING: Final = own_tags(PROJECT, "staging")
POLICIES: Final = tuple(
    deploy_policies(Place(account="123456789012", region="us-west-2", prefix="gpu-ci-staging", tags=STAGING)).values()
)
HERE: Final = {"aws:RequestedRegion": "us-west-2"}
KEY: Final = "arn:aws:kms:us-west-2:123456789012:key/0000"
IAM: Final = "arn:aws:iam::123456789012"
ITSELF: Final = f"{IAM}:role/gpu-ci-bootstrap/gpu-ci-staging-deploy"


def tagged(tags: dict[str, str], kind: str = "Resource") -> dict[str, str]:
    """Return tags as a call has them: those of the resource, or those that the request adds."""
    return {f"aws:{kind}Tag/{key}": value for key, value in tags.items()}


MINE: Final = tagged(STAGING)
PRODUCTION: Final = tagged(own_tags(PROJECT, "production"))
BOOTSTRAP: Final = tagged(own_tags(OWN, "staging"))
TAKING: Final = tagged(STAGING, "Request")


@pytest.mark.parametrize(
    ("action", "resource", "context"),
    [
        ("ec2:RunInstances", "arn:aws:ec2:us-west-2:123456789012:instance/*", HERE),
        ("iam:CreateRole", f"{IAM}:role/cluster-1a2b3c4", TAKING),
        ("iam:TagRole", f"{IAM}:role/cluster-1a2b3c4", TAKING),
        ("iam:PutRolePolicy", f"{IAM}:role/cluster-1a2b3c4", MINE),
        ("iam:PassRole", f"{IAM}:role/cluster-1a2b3c4", {"iam:PassedToService": "eks.amazonaws.com"}),
        (
            "iam:AttachRolePolicy",
            f"{IAM}:role/cluster-1a2b3c4",
            {**MINE, "iam:PolicyARN": "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"},
        ),
        ("kms:CreateKey", "*", TAKING),
        ("kms:TagResource", KEY, TAKING),
        ("kms:PutKeyPolicy", KEY, MINE),
        ("eks:CreateCluster", "arn:aws:eks:us-west-2:123456789012:cluster/gpu-ci-staging", {}),
        ("ecr:CreateRepository", "arn:aws:ecr:us-west-2:123456789012:repository/gpu-ci-staging/runner", {}),
    ],
)
def test_a_call_of_the_stack_is_allowed(action: str, resource: str, context: dict[str, str]) -> None:
    assert allowed(POLICIES, action, resource, context)


@pytest.mark.parametrize(
    ("action", "resource", "context"),
    [
        ("ec2:RunInstances", "arn:aws:ec2:eu-west-1:123456789012:instance/*", {"aws:RequestedRegion": "eu-west-1"}),
        # Its own role.
        ("iam:PutRolePolicy", ITSELF, {**BOOTSTRAP}),
        ("iam:UpdateAssumeRolePolicy", ITSELF, {**BOOTSTRAP}),
        ("iam:TagRole", ITSELF, {**BOOTSTRAP, **TAKING}),
        ("iam:PassRole", ITSELF, {"iam:PassedToService": "ec2.amazonaws.com"}),
        ("iam:CreatePolicyVersion", f"{IAM}:policy/gpu-ci-bootstrap/gpu-ci-staging-roles", BOOTSTRAP),
        # The key of the state, also by way of its tags.
        ("kms:PutKeyPolicy", KEY, BOOTSTRAP),
        ("kms:TagResource", KEY, {**BOOTSTRAP, **TAKING}),
        ("kms:ScheduleKeyDeletion", KEY, BOOTSTRAP),
        # A key, a role and a cluster of another stack.
        ("kms:PutKeyPolicy", KEY, PRODUCTION),
        ("kms:TagResource", KEY, {**PRODUCTION, **TAKING}),
        ("iam:PutRolePolicy", f"{IAM}:role/cluster-1a2b3c4", PRODUCTION),
        ("iam:TagRole", f"{IAM}:role/cluster-1a2b3c4", {**PRODUCTION, **TAKING}),
        ("eks:DeleteCluster", "arn:aws:eks:us-west-2:123456789012:cluster/gpu-ci-production", {}),
        ("eks:DeleteCluster", "arn:aws:eks:us-west-2:123456789012:cluster/gpu-ci-staging-two", {}),
        ("ecr:DeleteRepository", "arn:aws:ecr:us-west-2:123456789012:repository/gpu-ci-production/runner", {}),
        # A way to more permissions.
        ("iam:CreateRole", f"{IAM}:role/admin", TAKING),
        ("iam:PassRole", f"{IAM}:role/cluster-1a2b3c4", {"iam:PassedToService": "glue.amazonaws.com"}),
        ("iam:PassRole", f"{IAM}:role/admin", {"iam:PassedToService": "ec2.amazonaws.com"}),
        (
            "iam:AttachRolePolicy",
            f"{IAM}:role/cluster-1a2b3c4",
            {**MINE, "iam:PolicyARN": "arn:aws:iam::aws:policy/AdministratorAccess"},
        ),
        ("iam:CreateAccessKey", f"{IAM}:user/cirun/gpu-ci-staging-cirun", MINE),
        ("iam:PutUserPolicy", f"{IAM}:user/admin", {}),
        ("iam:CreateOpenIDConnectProvider", f"{IAM}:oidc-provider/token.actions.githubusercontent.com", {}),
        ("s3:DeleteBucket", "arn:aws:s3:::gpu-ci-staging-123456789012", {}),
        ("sts:AssumeRole", f"{IAM}:role/admin", {}),
    ],
)
def test_a_call_outside_the_stack_is_refused(action: str, resource: str, context: dict[str, str]) -> None:
    assert not allowed(POLICIES, action, resource, context)
