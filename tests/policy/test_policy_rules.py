"""Tests of the policy rules: each refuses a violation and accepts correct resources."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from fakes import aws, gcp
from policy import rules
from policy.taggable import LABELLED, TAGGED

pytestmark = pytest.mark.pure

TAGS = {"Project": "gpu-ci", "Environment": "staging", "ManagedBy": "pulumi"}
LAUNCH = "aws:ec2/launchTemplate:LaunchTemplate"
GROUP = "aws:ec2/securityGroup:SecurityGroup"
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


REFUSED: list[tuple[str, str, dict[str, Any]]] = [
    ("no-ingress-from-everywhere", GROUP, {"tags": TAGS, "ingress": [{"cidrBlocks": ["10.0.0.0/8", "0.0.0.0/0"]}]}),
    ("no-ingress-from-everywhere", GROUP, {"tags": TAGS, "ingress": [{"ipv6CidrBlocks": ["::/0"]}]}),
    (
        "no-ingress-from-everywhere",
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
        {"tags": TAGS, "cidrIpv4": "0.0.0.0/0"},
    ),
    (
        "no-ingress-from-everywhere",
        "gcp:compute/firewall:Firewall",
        {"sourceRanges": ["0.0.0.0/0"], "allows": [{"protocol": "tcp"}]},
    ),
    ("no-ingress-from-everywhere", CLUSTER, {"vpcConfig": {"endpointPublicAccess": True}}),
    ("no-ingress-from-everywhere", CLUSTER, {"vpcConfig": {"publicAccessCidrs": ["0.0.0.0/0"]}}),
    ("no-ingress-from-everywhere", CLUSTER, {"vpcConfig": {"publicAccessCidrs": ["0.0.0.0/1", "128.0.0.0/1"]}}),
    ("no-public-service", "kubernetes:core/v1:Service", {"spec": {"type": "LoadBalancer"}}),
    ("no-public-service", "kubernetes:networking.k8s.io/v1:Ingress", {}),
    ("no-static-credential", "aws:iam/accessKey:AccessKey", {}),
    ("no-static-credential", "pulumi:providers:aws", {"secretKey": "x"}),
    ("no-static-credential", DEPLOYMENT, {"spec": {"env": [{"value": "AKIA" + "A" * 16}]}}),
    ("no-static-credential", RELEASE, {"version": "1.2.3", "values": {"key": PRIVATE}}),
    (
        "no-unbounded-permission",
        "aws:iam/rolePolicy:RolePolicy",
        {"policy": '{"Statement": {"Effect": "Allow", "Action": "*", "Resource": ["*"]}}'},
    ),
    (
        "no-unbounded-permission",
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
        {"policyArn": "arn:aws:iam::aws:policy/AdministratorAccess"},
    ),
    ("no-unbounded-permission", "gcp:projects/iAMMember:IAMMember", {"role": "roles/editor"}),
    ("metadata-needs-a-token", LAUNCH, {**GOOD_TEMPLATE, "metadataOptions": {"httpTokens": "optional"}}),
    ("metadata-needs-a-token", LAUNCH, {**GOOD_TEMPLATE, "metadataOptions": {"httpTokens": "required"}}),
    ("volumes-are-encrypted", LAUNCH, {**GOOD_TEMPLATE, "blockDeviceMappings": [{"ebs": {"encrypted": "false"}}]}),
    ("volumes-are-encrypted", LAUNCH, {**GOOD_TEMPLATE, "blockDeviceMappings": []}),
    ("volumes-are-encrypted", "aws:ec2/instance:Instance", {"rootBlockDevice": {"volumeSize": 8}}),
    ("secrets-in-the-cluster-are-encrypted", CLUSTER, {"encryptionConfig": {"resources": ["secrets"]}}),
    ("images-are-scanned", "aws:ecr/repository:Repository", {"imageScanningConfiguration": {"scanOnPush": False}}),
    ("everything-is-tagged", GROUP, {"tags": {"Project": "gpu-ci"}}),
    ("everything-is-tagged", "gcp:compute/instance:Instance", {"labels": {"project": "gpu-ci"}}),
    ("launched-machines-are-tagged", LAUNCH, {**GOOD_TEMPLATE, "tagSpecifications": []}),
    ("charts-are-pinned", RELEASE, {"chart": "arc"}),
    ("charts-are-pinned", RELEASE, {"chart": "arc", "version": "^1.2.3"}),
    ("charts-are-pinned", RELEASE, {"chart": "arc", "version": "1.2"}),
    ("nothing-is-latest", DEPLOYMENT, container("nvidia/cuda:latest")),
    ("nothing-is-latest", DEPLOYMENT, container("nvidia/cuda")),
    ("nothing-is-latest", DEPLOYMENT, container("localhost:5000/cuda")),
    ("nothing-is-latest", RELEASE, {"version": "1.2.3", "values": {"image": {"tag": "latest"}}}),
    ("nothing-is-latest", "aws:eks/nodeGroup:NodeGroup", {"tags": TAGS, "launchTemplate": {"version": "$Latest"}}),
]

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
    (
        "aws:iam/rolePolicy:RolePolicy",
        {"policy": '{"Statement": [{"Effect": "Allow", "Action": "s3:Get*", "Resource": "*"}]}'},
    ),
    ("aws:iam/rolePolicy:RolePolicy", {"policy": "[unknown]"}),
    ("aws:ecr/repository:Repository", {"tags": TAGS, "imageScanningConfiguration": {"scanOnPush": True}}),
    (RELEASE, {"chart": "arc", "version": "0.14.2", "values": {"image": {"tag": "v1.35.0"}}}),
    (DEPLOYMENT, container("nvcr.io/nvidia/cuda:13.0.1-base-ubuntu24.04")),
    (DEPLOYMENT, container("localhost:5000/cuda@sha256:" + "a" * 64)),
]


@pytest.mark.parametrize(("rule", "type_", "inputs"), REFUSED)
def test_a_rule_refuses_a_violation(rule: str, type_: str, inputs: dict[str, Any]) -> None:
    assert rule in broken(type_, inputs)


@pytest.mark.parametrize(("type_", "inputs"), ALLOWED)
def test_a_correct_resource_violates_no_rule(type_: str, inputs: dict[str, Any]) -> None:
    assert broken(type_, inputs) == {}


def test_every_rule_has_a_violation_in_the_table() -> None:
    assert {rule for rule, _, _ in REFUSED} == {rules.rule_name(rule) for rule in rules.RULES}


def test_the_default_tags_of_a_provider_count() -> None:
    provider = {"defaultTags": '{"tags": {"Project": "gpu-ci", "Environment": "staging", "ManagedBy": "pulumi"}}'}

    assert broken("aws:kms/key:Key", {}, provider) == {}


def test_an_empty_tag_is_missing_although_the_provider_has_a_default() -> None:
    provider = {"defaultTags": {"tags": TAGS}}

    assert broken("aws:kms/key:Key", {"tags": {"Project": ""}}, provider) == {
        "everything-is-tagged": ["tags lack Project"]
    }


def test_the_default_labels_of_a_provider_count() -> None:
    provider = {"defaultLabels": '{"project": "gpu-ci", "environment": "staging", "managed-by": "pulumi"}'}

    assert broken("gcp:compute/disk:Disk", {}, provider) == {}


def test_a_finding_names_the_rule_and_the_resource() -> None:
    [finding] = rules.findings("aws:kms/key:Key", "secrets", {"tags": {"Project": "a", "Environment": "b"}})

    assert str(finding) == "everything-is-tagged: Key secrets: tags lack ManagedBy"


@pytest.mark.parametrize("token", sorted(kind.type for kind in (*aws.TABLE, *gcp.TABLE)))
def test_the_tables_list_every_type_that_supports_tags_or_labels(token: str) -> None:
    from tests.ops.sdk import sdk_class  # noqa: PLC0415  # imports one module of the provider for each type

    inputs = inspect.signature(sdk_class(token)._internal_init).parameters  # type: ignore[attr-defined]

    assert (token in TAGGED) == ("tags" in inputs and token.startswith("aws:"))
    assert (token in LABELLED) == ("labels" in inputs and token.startswith("gcp:"))
