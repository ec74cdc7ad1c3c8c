"""Tests of the policy pack: run as the engine runs it, it reports the messages of the rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import analyzer_pb2

from gpu_ci.policy import rules
from ops.fakes.protocol.wire import SECRET_SIGNATURE, SIGNATURE, UNKNOWN_MARK
from tests.policy.pack import running

pytestmark = pytest.mark.artefacts

LAUNCH = "aws:ec2/launchTemplate:LaunchTemplate"
ROTATED = {"enableKeyRotation": True}
KEY = "aws:kms/key:Key"
TAGS = {"Project": "gpu-ci", "Environment": "staging", "ManagedBy": "pulumi"}


INGRESS = "kubernetes:networking.k8s.io/v1:Ingress"
ALLOWED = {
    "check": "no-public-service",
    "subject": "Ingress thing",
    "reason": "the demonstration is in December",
    "until": "2026-12-18",
}


def stated(**change: str) -> dict[str, str]:
    """The configuration of a stack with an exception, and with one that is not valid."""
    return {"gpu-ci:exceptions": json.dumps({"wrong": {"check": "fit"}, "demo": {**ALLOWED, **change}})}


@pytest.fixture(scope="module")
def analyzer() -> Iterator[Any]:
    """Return a client of the pack, which runs in the first environment that has pulumi-policy."""
    with running({}) as client:
        yield client


def reported(
    analyzer: Any, type_: str, inputs: dict[str, Any], provider: dict[str, Any] | None = None
) -> dict[str, str]:
    """Return the messages of the pack for a resource, by rule."""
    properties, its_provider = struct_pb2.Struct(), struct_pb2.Struct()
    properties.update(inputs)
    its_provider.update(provider or {})
    request = analyzer_pb2.AnalyzeRequest(
        type=type_,
        properties=properties,
        urn=f"urn:pulumi:staging::gpu-ci::{type_}::thing",
        name="thing",
        provider=analyzer_pb2.AnalyzerProviderResource(
            type="pulumi:providers:aws", properties=its_provider, urn="urn:x::y::pulumi:providers:aws::aws", name="aws"
        ),
    )
    return {one.policyName: one.message for one in analyzer.Analyze(request).diagnostics}


def levels(analyzer: Any) -> dict[str, Any]:
    """Return the level of each policy."""
    info = analyzer.GetAnalyzerInfo(empty_pb2.Empty())
    return {policy.name: policy.enforcementLevel for policy in info.policies}


def test_every_rule_is_a_policy_that_stops_an_update(analyzer: Any) -> None:
    mandatory = {name for name, level in levels(analyzer).items() if level == analyzer_pb2.MANDATORY}

    assert mandatory == rules.NAMES


def test_an_allowed_violation_does_not_stop_the_update() -> None:
    with running(stated()) as client:
        found = reported(client, INGRESS, {})
        level = levels(client)["allowed-violations"]

    assert list(found) == ["allowed-violations"]
    assert level == analyzer_pb2.ADVISORY
    assert "no-public-service: an ingress publishes a service" in found["allowed-violations"]
    assert "until 2026-12-18, by exceptions.demo: the demonstration is in December" in found["allowed-violations"]


@pytest.mark.parametrize(
    ("config", "day"),
    [
        (stated(), "2026-12-19"),
        (stated(), "2025-11-01"),
        (stated(subject="Ingress other"), "2026-11-22"),
        (stated(check="no-ingress-from-everywhere"), "2026-11-22"),
        (stated(until="tomorrow"), "2026-11-22"),
        ({"gpu-ci:exceptions": "not a map"}, "2026-11-22"),
        ({}, "2026-11-22"),
    ],
    ids=["over", "too long", "another resource", "another rule", "no day", "no map", "none"],
)
def test_a_violation_without_a_valid_exception_stops(config: dict[str, str], day: str) -> None:
    with running(config, day) as client:
        assert list(reported(client, INGRESS, {})) == ["no-public-service"]


def test_a_violation_is_reported_with_its_fix(analyzer: Any) -> None:
    broken = reported(analyzer, "kubernetes:helm.sh/v3:Release", {"chart": "arc", "version": "^1.2.3"})

    assert list(broken) == ["charts-are-pinned"]
    assert "version ^1.2.3 is a range; pin one version" in broken["charts-are-pinned"]


def test_default_tags_of_the_provider_count(analyzer: Any) -> None:
    assert reported(analyzer, KEY, ROTATED, {"defaultTags": {"tags": TAGS}}) == {}
    assert list(reported(analyzer, KEY, ROTATED)) == ["everything-is-tagged"]


def test_an_unknown_value_is_not_a_violation_and_hides_no_violation(analyzer: Any) -> None:
    inputs = {"tags": TAGS, "userData": UNKNOWN_MARK, "metadataOptions": {"httpTokens": "optional"}}

    assert "metadata-needs-a-token" in reported(analyzer, LAUNCH, inputs)
    assert reported(analyzer, KEY, {**ROTATED, "tags": TAGS, "description": UNKNOWN_MARK}) == {}


def test_a_credential_is_reported_by_its_path_without_its_value(analyzer: Any) -> None:
    value = "AKIA" + "A" * 16
    secret = {SIGNATURE: SECRET_SIGNATURE, "value": value}

    message = reported(analyzer, KEY, {"tags": TAGS, "description": secret})["no-static-credential"]

    assert "description contains an AWS access key" in message
    assert value not in message
