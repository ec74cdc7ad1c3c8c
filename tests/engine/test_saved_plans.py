"""Saved plans on the real engine: an update does what was planned, or it is refused with the fix."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pulumi
import pytest
from pulumi import ResourceOptions

from ops.engine.engine import Engine
from ops.engine.pulumi_cli import Found
from ops.fakes.aws import names as aws
from ops.fakes.protocol.faults import Fault
from ops.pipeline import deploy, saved_plan
from ops.plan.stack_file import StackFile
from tests.engine import programs
from tests.engine.pipeline import Pipeline

pytestmark = pytest.mark.engine

AGAIN = saved_plan.AGAIN


class Program:
    """Two keys, a network with a role that has a secret, and an optional third key."""

    text = "a key"
    third = False
    range = "10.0.0.0/16"

    def __call__(self) -> None:
        opts = programs.aws_provider()
        for name in ("first", "second", *(["third"] if self.third else [])):
            programs.Made(aws.KEY, name, {"description": self.text}, opts)
        network = {"cidrBlock": self.range, "tags": {"Owner": "ci"}}
        vpc = programs.Made(aws.VPC, "network", network, opts)
        inside = {"vpcId": vpc.id, "cidrBlock": self.range.replace("/16", "/24")}
        programs.Made(aws.SUBNET, "subnet", inside, ResourceOptions.merge(opts, ResourceOptions(depends_on=[vpc])))
        secret = {"name": "worker", "description": pulumi.Config().require_secret("password"), "assumeRolePolicy": "{}"}
        programs.Made(aws.ROLE, "worker", secret, opts)


class Stack:
    """One deployed stack with its pipeline."""

    def __init__(self, engine: Engine, pipeline: Pipeline, program: Program) -> None:
        self.engine, self.pipeline, self.program = engine, pipeline, program
        self.folder = pipeline.folder / "plan"

    def plan(self) -> tuple[int, str]:
        self.pipeline.outputs.unlink(missing_ok=True)
        return self.pipeline.run(deploy.main, "plan", "small", "--folder", str(self.folder))

    def apply(self) -> tuple[int, str]:
        return self.pipeline.run(deploy.main, "apply", "small", "--folder", str(self.folder))

    @property
    def descriptions(self) -> dict[str, str]:
        return {one.name: one.inputs["description"] for one in self.engine.cloud.of(aws.KEY)}


@pytest.fixture
def stack(cli: Found, tmp_path: Path) -> Iterator[Stack]:
    program = Program()
    with Engine(cli, programs.stack_file(), program) as engine:
        made = Stack(engine, Pipeline(cli, engine, tmp_path), program)
        code, output = made.plan()
        assert code == 0, output
        code, output = made.apply()
        assert code == 0, output
        yield made


def test_an_update_follows_its_saved_plan(stack: Stack) -> None:
    pipeline, program = stack.pipeline, stack.program
    calls = [line for line in pipeline.calls.read_text().splitlines() if line.startswith(("preview", "up"))]
    assert [line.split(" --event-log")[0] for line in calls] == [
        f"preview --stack small --non-interactive --diff --policy-pack gpu_ci/policy --save-plan {stack.folder}/plan.json",
        f"up --stack small --non-interactive --diff --yes --policy-pack gpu_ci/policy --plan {stack.folder}/plan.json",
    ]
    assert "+ create   kms/key first" in pipeline.summary.read_text()
    assert programs.SECRET not in (stack.folder / "plan.json").read_text()
    assert programs.SECRET not in pipeline.summary.read_text()

    code, output = stack.plan()
    assert (code, pipeline.outputs.read_text()) == (0, "changes=false\n")
    assert "The plan of small changes nothing." in output

    program.text, program.range = "a better key", "10.1.0.0/16"
    code, output = stack.plan()
    assert (code, pipeline.outputs.read_text()) == (0, "changes=true\n")
    assert "    description: a key -> a better key" in pipeline.summary.read_text()
    assert "± replace  ec2/vpc network" in pipeline.summary.read_text()

    # A resource that the plan does not have: the update stops before its first change.
    program.third = True
    code, output = stack.apply()
    assert code == 1
    assert "create is not allowed by the plan" in output
    assert (
        "::error::The update deviates from the plan, so Pulumi stopped it; nothing was changed. To continue, re-run all"
        " jobs of this workflow" in output
    )
    assert stack.descriptions == {"first": "a key", "second": "a key"}

    # A change by hand is one, too.
    program.third = False
    subnet = stack.engine.cloud.of(aws.SUBNET)[0]
    role = stack.engine.cloud.of(aws.ROLE)[0]
    before = role.inputs, role.outputs
    role.inputs, role.outputs = {**role.inputs, "path": "/by/hand/"}, {**role.outputs, "path": "/by/hand/"}
    code, output = stack.apply()
    assert (code, "worker violates plan: properties changed" in output) == (1, True)
    role.inputs, role.outputs = before

    code, output = stack.apply()
    assert code == 0, output
    assert stack.descriptions == {"first": "a better key", "second": "a better key"}
    assert stack.engine.cloud.find(aws.SUBNET, subnet.id) is None

    # The update has changed the state, so the same plan is not applied again.
    code, output = stack.apply()
    assert code == 1
    assert (
        f"::error::The plan is not applied: the state of small has changed since the plan was made: {AGAIN}." in output
    )


def test_an_update_that_fails_is_planned_again_and_converges(stack: Stack) -> None:
    stack.program.text = "a better key"
    assert stack.plan()[0] == 0
    stack.engine.faults.arm(Fault(operation="update", nth=2))

    code, output = stack.apply()

    assert (code, "Pulumi continues where it stopped" in output) == (3, True)
    stack.engine.faults.disarm()
    assert stack.plan()[0] == 0
    assert stack.apply()[0] == 0
    assert stack.descriptions == {"first": "a better key", "second": "a better key"}


def test_the_autoscaler_breaks_no_plan(cli: Found, tmp_path: Path) -> None:
    """The engine writes `desiredSize` into the plan, although the program ignores it."""

    def file(most: int) -> StackFile:
        return programs.stack_file({"gpu-ci:pools": json.dumps({"spot": {"max": most}})})

    with Engine(cli, file(5), programs.pools) as engine:
        made = Stack(engine, Pipeline(cli, engine, tmp_path), Program())
        assert engine.up().ok
        engine.configure(file(6))
        assert made.plan()[0] == 0
        (group,) = engine.cloud.of(aws.NODE_GROUP)
        running = {"scalingConfig": {"minSize": 0, "desiredSize": 3, "maxSize": 5}}
        group.inputs, group.outputs = {**group.inputs, **running}, {**group.outputs, **running}

        code, output = made.apply()

        assert code == 0, output
        assert group.inputs["scalingConfig"] == {"minSize": 0, "desiredSize": 3, "maxSize": 6}
