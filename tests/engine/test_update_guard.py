"""Guards of updates on the real engine."""

from __future__ import annotations

import pytest
from pulumi import ResourceOptions

from components.update_guard import Update, refuse_update, warn_of_update
from ops.engine.engine import Engine
from ops.engine.events import Outcome
from ops.engine.pulumi_cli import Found
from ops.fakes.aws import names as aws
from ops.plan import recorder
from tests.engine import programs

pytestmark = pytest.mark.engine


class Program:
    """A network whose tag `size` may grow to 20 without a word and to 30 with a warning."""

    size = 10

    def __call__(self) -> None:
        guards = ResourceOptions.merge(
            refuse_update("size-limit", self.refusal), warn_of_update("size-warning", self.warning)
        )
        programs.Made(
            aws.VPC,
            "network",
            {"cidrBlock": "10.0.0.0/16", "tags": {"size": str(self.size)}},
            ResourceOptions.merge(programs.aws_provider(), guards),
        )

    def refusal(self, update: Update) -> str | None:
        old, new = (int(inputs["tags"]["size"]) for inputs in (update.old_inputs, update.new_inputs))
        return f"the size grows from {old} to {new}; keep it under 31" if new > 30 else None

    def warning(self, update: Update) -> str | None:
        return f"a size of {update.new_inputs['tags']['size']} is slow" if self.size > 20 else None


def warnings(outcome: Outcome) -> list[str]:
    return [one.message for one in outcome.diagnostics if one.severity == "warning"]


def test_a_guard_sees_the_old_state_in_a_preview(cli: Found) -> None:
    program = Program()
    with Engine(cli, programs.stack_file(), program) as engine:
        assert engine.up().ok

        program.size = 20
        small = engine.preview()
        program.size = 30
        large = engine.preview()
        program.size = 31
        refused = engine.preview()
        refused_up = engine.up()

        (network,) = [record for record in engine.state().resources.values() if record.type == aws.VPC]

    assert small.ok
    assert warnings(small) == []
    assert large.ok
    assert warnings(large) == ["network: a size of 30 is slow"]
    assert not refused.ok
    assert 'before hook "size-limit" failed: the size grows from 10 to 31; keep it under 31' in refused.fault
    assert not refused_up.ok
    assert network.inputs["tags"]["size"] == "10"


def test_the_plan_records_a_guarded_resource() -> None:
    plan = recorder.record(programs.stack_file(), program=Program())

    assert [resource.name for resource in plan.resources if resource.type == aws.VPC] == ["network"]
