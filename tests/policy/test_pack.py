"""Tests of the policy pack: run as the engine runs it, it reports the messages of the rules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc

from fakes.wire import SECRET_SIGNATURE, SIGNATURE, UNKNOWN_MARK
from ops.cli.options import ROOT
from policy import rules

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.artefacts

PACK = ROOT / "policy"
INTERPRETERS = (PACK / ".venv" / "bin" / "python", sys.executable)
LAUNCH = "aws:ec2/launchTemplate:LaunchTemplate"
ROTATED = {"enableKeyRotation": True}
KEY = "aws:kms/key:Key"
TAGS = {"Project": "gpu-ci", "Environment": "staging", "ManagedBy": "pulumi"}


@pytest.fixture(scope="module")
def analyzer() -> Iterator[Any]:
    """Return a client of the pack, which runs in the first environment that has pulumi-policy."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    able = [
        str(python)
        for python in INTERPRETERS
        if Path(python).exists()
        and subprocess.run([python, "-c", "import pulumi_policy"], check=False, **quiet).returncode == 0  # type: ignore[call-overload]
    ]
    if not able:
        pytest.skip(f"pulumi-policy is not installed: make {PACK.name}/.venv of {PACK.name}/requirements.txt")
    pack = subprocess.Popen(
        [able[0], "-m", "pulumi.policy", "127.0.0.1:1", str(PACK)], stdout=subprocess.PIPE, cwd=PACK, text=True
    )
    assert pack.stdout is not None
    try:
        with grpc.insecure_channel(f"127.0.0.1:{int(pack.stdout.readline())}") as channel:
            yield analyzer_pb2_grpc.AnalyzerStub(channel)
    finally:
        pack.terminate()
        pack.wait(timeout=10)
        pack.stdout.close()


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


def test_every_rule_is_a_policy_that_stops_an_update(analyzer: Any) -> None:
    info = analyzer.GetAnalyzerInfo(empty_pb2.Empty())

    assert {policy.name for policy in info.policies} == {rules.rule_name(rule) for rule in rules.RULES}
    assert {policy.enforcementLevel for policy in info.policies} == {analyzer_pb2.MANDATORY}


def test_a_violation_is_reported_with_its_fix(analyzer: Any) -> None:
    broken = reported(analyzer, "kubernetes:helm.sh/v3:Release", {"chart": "arc", "version": "^1.2.3"})

    assert list(broken) == ["charts-are-pinned"]
    assert "version ^1.2.3 is a range; pin one version" in broken["charts-are-pinned"]


def test_default_tags_of_the_provider_count(analyzer: Any) -> None:
    assert reported(analyzer, KEY, ROTATED, {"defaultTags": {"tags": TAGS}}) == {}
    assert list(reported(analyzer, KEY, ROTATED)) == ["everything-is-tagged"]


def test_an_unknown_value_is_no_violation_and_hides_none(analyzer: Any) -> None:
    inputs = {"tags": TAGS, "userData": UNKNOWN_MARK, "metadataOptions": {"httpTokens": "optional"}}

    assert "metadata-needs-a-token" in reported(analyzer, LAUNCH, inputs)
    assert reported(analyzer, KEY, {**ROTATED, "tags": TAGS, "description": UNKNOWN_MARK}) == {}


def test_a_credential_is_reported_by_its_path_without_its_value(analyzer: Any) -> None:
    value = "AKIA" + "A" * 16
    secret = {SIGNATURE: SECRET_SIGNATURE, "value": value}

    message = reported(analyzer, KEY, {"tags": TAGS, "description": secret})["no-static-credential"]

    assert "description contains an AWS access key" in message
    assert value not in message
