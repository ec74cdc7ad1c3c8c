"""Drift on the real engine: changes by hand in the clouds, and what is no drift."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ops.engine.engine import Engine
from ops.engine.pulumi_cli import Found
from ops.fakes.aws import names as aws
from ops.fakes.cloud.objects import CloudObject
from ops.fakes.protocol.faults import Fault
from ops.pipeline import drift
from tests.engine import programs
from tests.engine.pipeline import Pipeline

pytestmark = pytest.mark.engine


def change(found: CloudObject, key: str, value: object) -> None:
    """Change an object in the cloud by hand."""
    found.inputs, found.outputs = {**found.inputs, key: value}, {**found.outputs, key: value}


def program() -> None:
    """A cluster with a node group, and a role with a secret."""
    programs.pools()
    programs.worker()


def test_a_manual_change_is_drift_until_the_next_deployment(cli: Found, tmp_path: Path) -> None:
    pools = programs.stack_file({"gpu-ci:pools": json.dumps({"spot": {"max": 5}})})
    text = tmp_path / "drift.md"
    check = ("check", "small", "--text", str(text))
    with Engine(cli, pools, program) as engine:
        pipeline = Pipeline(cli, engine, tmp_path)
        assert engine.up().ok
        commit = pipeline.git("rev-parse", "HEAD")
        assert pipeline.run(drift.main, "deployed", "small") == (0, f"{commit}\n")

        # The autoscaler starts nodes, which is no drift.
        change(engine.cloud.of(aws.NODE_GROUP)[0], "scalingConfig", {"minSize": 0, "desiredSize": 3, "maxSize": 5})
        code, output = pipeline.run(drift.main, *check)
        assert (code, output.splitlines()[-1]) == (0, "small agrees with its program.")
        assert not text.exists()

        # Someone changes a tag and a secret description, and deletes an attachment.
        change(engine.cloud.of(aws.VPC)[0], "tags", {"Owner": "by-hand"})
        role = next(one for one in engine.cloud.of(aws.ROLE) if one.name == "worker")
        change(role, "description", "read by everyone")
        attachment = engine.cloud.of(aws.ATTACHMENT)[0]
        engine.cloud.delete(aws.ATTACHMENT, attachment.id)
        code, output = pipeline.run(drift.main, *check)

        assert code == 0
        assert "::error::small has drifted from its program." in output
        issue = text.read_text()
        assert "~ update   ec2/vpc vpc\n    tags: {Owner: by-hand} -> (none)" in issue
        assert "~ update   iam/role worker\n    description: " in issue
        assert "+ create   iam/rolePolicyAttachment policy\n" in issue
        assert programs.SECRET not in issue + output
        assert "nodeGroup" not in issue
        assert commit[:10] in issue

        # A system that does not answer is no drift, and the workflow does not change the issue.
        engine.faults.arm(Fault(operation="read", type=aws.VPC, message="dial tcp 10.0.0.1:443: i/o timeout"))
        assert pipeline.run(drift.main, *check)[0] == 3
        engine.faults.disarm()

        # A deployment ends it.
        assert engine.up().ok
        assert pipeline.run(drift.main, *check)[0] == 0
        assert not text.exists()
