"""Tests of the policy rules: they accept correct resources. `planted.py` has the violations."""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest

from gpu_ci.policy import rules
from gpu_ci.policy.taggable import LABELLED, TAGGED
from ops.fakes import aws
from ops.fakes.gcp import resources as gcp

pytestmark = pytest.mark.pure

TAGS = {"Project": "gpu-ci", "Environment": "staging", "ManagedBy": "pulumi"}
LAUNCH = "aws:ec2/launchTemplate:LaunchTemplate"
GROUP = "aws:ec2/securityGroup:SecurityGroup"
KEY = "aws:kms/key:Key"
CLUSTER = "aws:eks/cluster:Cluster"
RELEASE = "kubernetes:helm.sh/v3:Release"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
KIND = "PRIVATE KEY"
PRIVATE = f"-----BEGIN {KIND}-----"

GOOD_TEMPLATE: dict[str, Any] = {
    "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 1},
    "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"encrypted": "true"}}],
    "tagSpecifications": [{"resourceType": kind, "tags": TAGS} for kind in ("instance", "volume")],
    "tags": TAGS,
}


def broken(type_: str, inputs: dict[str, Any], provider: dict[str, Any] | None = None) -> dict[str, list[str]]:
    """Return the rules that a resource violates, with their messages."""
    found: dict[str, list[str]] = {}
    for finding in rules.findings(type_, "thing", inputs, provider):
        found.setdefault(finding.rule, []).append(finding.problem)
    return found


def container(image: str) -> dict[str, Any]:
    return {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": image}]}}}}


TRUSTED = "aws:iam/role:Role"
ROOT = "arn:aws:iam::123456789012:root"
ROLES = "arn:aws:iam::123456789012:role"
ISSUER = "token.actions.githubusercontent.com"
EXTERNAL = {"StringEquals": {"sts:ExternalId": "a1b2c3"}}
OWN = {"StringEquals": {"aws:ResourceTag/Project": "gpu-ci"}}


def statement(effect: str = "Allow", **stated: Any) -> str:
    """Return a document with one statement."""
    return json.dumps({"Statement": [{"Effect": effect, **stated}]})


def github(subject: str) -> str:
    """Return the trust in the workflows of GitHub with this subject."""
    provider = {"Federated": f"arn:aws:iam::123456789012:oidc-provider/{ISSUER}"}
    return statement(Principal=provider, Condition={"StringLike": {f"{ISSUER}:sub": subject}})


ALLOWED: list[tuple[str, dict[str, Any]]] = [
    (GROUP, {"tags": TAGS, "ingress": [{"cidrBlocks": ["10.0.0.0/8"]}], "egress": [{"cidrBlocks": ["0.0.0.0/0"]}]}),
    ("gcp:compute/firewall:Firewall", {"direction": "EGRESS", "destinationRanges": ["0.0.0.0/0"], "allows": [{}]}),
    ("gcp:compute/firewall:Firewall", {"sourceRanges": ["0.0.0.0/0"], "denies": [{"protocol": "all"}]}),
    (
        CLUSTER,
        {
            "tags": TAGS,
            "vpcConfig": {"endpointPublicAccess": True, "publicAccessCidrs": ["192.0.2.0/24"]},
            "encryptionConfig": {"resources": ["secrets"], "provider": {"keyArn": "arn:aws:kms:x"}},
        },
    ),
    (LAUNCH, GOOD_TEMPLATE),
    ("kubernetes:core/v1:Service", {"spec": {"type": "ClusterIP"}}),
    ("kubernetes:core/v1:Secret", {"stringData": {"key": PRIVATE}}),
    (KEY, {"tags": TAGS, "enableKeyRotation": True, "policy": statement(Principal={"AWS": ROOT}, Action="kms:*")}),
    (TRUSTED, {"tags": TAGS, "assumeRolePolicy": statement(Principal={"Service": "ec2.amazonaws.com"})}),
    (TRUSTED, {"tags": TAGS, "assumeRolePolicy": github("repo:example-org/vision:ref:refs/heads/main")}),
    (TRUSTED, {"tags": TAGS, "assumeRolePolicy": github("repo:example-org/vision:ref:refs/tags/v*")}),
    (TRUSTED, {"tags": TAGS, "assumeRolePolicy": github("repo:example-org/vision:environment:staging")}),
    (TRUSTED, {"tags": TAGS, "assumeRolePolicy": statement(Principal={"AWS": ROOT}, Condition=EXTERNAL)}),
    ("aws:s3/bucketPolicy:BucketPolicy", {"policy": statement("Deny", Principal="*", Action="s3:*")}),
    ("aws:iam/rolePolicy:RolePolicy", {"policy": statement(Action="iam:PassRole", Resource=f"{ROLES}/nodes")}),
    (
        "aws:iam/rolePolicy:RolePolicy",
        {"policy": statement(Action="ec2:TerminateInstances", Resource="*", Condition=OWN)},
    ),
    ("gcp:serviceaccount/iAMMember:IAMMember", {"role": "roles/iam.serviceAccountUser", "member": "user:x@y.org"}),
    ("gcp:projects/iAMMember:IAMMember", {"role": "roles/logging.logWriter", "member": "user:x@y.org"}),
    ("gcp:compute/firewall:Firewall", {"sourceTags": ["bastion"], "allows": [{"protocol": "tcp"}]}),
    (
        "kubernetes:core/v1:Namespace",
        {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}},
    ),
    (DEPLOYMENT, {"spec": {"containers": [{"env": [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {}}}]}]}}),
    (DEPLOYMENT, {"spec": {"containers": [{"env": [{"name": "TOKEN_PATH", "value": "/run/secrets/token"}]}]}}),
    (DEPLOYMENT, {"spec": {"securityContext": {"privileged": False, "seccompProfile": {"type": "RuntimeDefault"}}}}),
    (
        "aws:iam/rolePolicy:RolePolicy",
        {"policy": '{"Statement": [{"Effect": "Allow", "Action": "s3:Get*", "Resource": "*"}]}'},
    ),
    ("aws:iam/rolePolicy:RolePolicy", {"policy": "[unknown]"}),
    (
        "aws:ecr/repository:Repository",
        {"tags": TAGS, "imageScanningConfiguration": {"scanOnPush": True}, "imageTagMutability": "IMMUTABLE"},
    ),
    (RELEASE, {"chart": "arc", "version": "0.14.2", "values": {"image": {"tag": "v1.35.0"}}}),
    (DEPLOYMENT, container("nvcr.io/nvidia/cuda:13.0.1-base-ubuntu24.04")),
    (DEPLOYMENT, container("localhost:5000/cuda@sha256:" + "a" * 64)),
]


def test_a_correct_resource_violates_no_rule() -> None:
    assert [(*resource, found) for resource in ALLOWED if (found := broken(*resource))] == []


def test_the_default_tags_of_a_provider_count() -> None:
    provider = {"defaultTags": '{"tags": {"Project": "gpu-ci", "Environment": "staging", "ManagedBy": "pulumi"}}'}

    assert broken(KEY, {"enableKeyRotation": True}, provider) == {}


def test_an_empty_tag_is_missing_although_the_provider_has_a_default() -> None:
    provider = {"defaultTags": {"tags": TAGS}}

    assert broken(KEY, {"enableKeyRotation": True, "tags": {"Project": ""}}, provider) == {
        "everything-is-tagged": ["tags lack Project"]
    }


def test_the_default_labels_of_a_provider_count() -> None:
    provider = {"defaultLabels": '{"project": "gpu-ci", "environment": "staging", "managed-by": "pulumi"}'}

    assert broken("gcp:compute/disk:Disk", {}, provider) == {}


def test_a_finding_names_the_rule_and_the_resource() -> None:
    [finding] = rules.findings(
        KEY, "secrets", {"enableKeyRotation": True, "tags": {"Project": "a", "Environment": "b"}}
    )

    assert str(finding) == "everything-is-tagged: Key secrets: tags lack ManagedBy"


def test_the_tables_list_every_type_that_supports_tags_or_labels() -> None:
    from tests.ops.sdk import sdk_class  # noqa: PLC0415  # imports one module of the provider for each type

    tokens = sorted(kind.type for kind in (*aws.TABLE, *gcp.TABLE))
    inputs = {
        token: inspect.signature(sdk_class(token)._internal_init).parameters  # type: ignore[attr-defined]
        for token in tokens
    }

    assert [one for one in tokens if (one in TAGGED) != ("tags" in inputs[one] and one.startswith("aws:"))] == []
    assert [one for one in tokens if (one in LABELLED) != ("labels" in inputs[one] and one.startswith("gcp:"))] == []
