"""The life of a machine on Compute Engine in the real engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pulumi
import pytest
from pulumi import ResourceOptions

from ops.engine.engine import Engine
from ops.engine.pulumi_cli import Found
from ops.fakes.cloud.objects import CloudObject
from ops.fakes.gcp import resources as gcp
from ops.fakes.gcp.machine_rules import RESOURCE_POLICY
from tests.engine.programs import stack_file

pytestmark = pytest.mark.engine

SETTINGS: Final = {"gpu-ci:stop": "19:00", "gpu-ci:hours": "12", "gpu-ci:text": "#cloud-config\n"}


def machine() -> None:
    """One machine with a schedule and alarms."""
    import pulumi_gcp  # noqa: PLC0415 - slow to import

    from gpu_ci.back_ends.shared.machine.gcp.base import GcpBase, GcpBaseArgs  # noqa: PLC0415
    from gpu_ci.back_ends.shared.machine.gcp.machine import STOCK_IMAGES, GcpMachine, GcpMachineArgs  # noqa: PLC0415
    from gpu_ci.back_ends.shared.machine.hours import Hours  # noqa: PLC0415
    from gpu_ci.knowledge.machines import GCE_TYPES, attach, gpu_model  # noqa: PLC0415

    config = pulumi.Config()
    opts = ResourceOptions(providers=[pulumi_gcp.Provider("gcp", project="gpu-tests", region="us-central1")])
    base = GcpBase(
        "vm-gcp",
        GcpBaseArgs(
            project="gpu-tests",
            title="gpu-ci-small-vm",
            account="gpu-ci-small-vm",
            key_secret="gpu-ci-small-vm-github-app-private-key",
            regions=["us-central1"],
            nat=True,
            scheduled=True,
        ),
        opts,
    )
    args = GcpMachineArgs(
        title="gpu-ci-small-gpu",
        project="gpu-tests",
        zone="us-central1-b",
        machine=attach(GCE_TYPES["n1-standard-8"], gpu_model("t4"), 1),
        image=STOCK_IMAGES["ubuntu-24.04"],
        signed_driver=True,
        disk_gib=100,
        spot=False,
        public_address=False,
        egress_ports=(80, 443),
        user_data=config.require("text"),
        max_hours=config.require_int("hours"),
        base=base,
        hours=Hours(time_zone="Europe/Prague", days=("mon",), start="07:30", stop=config.require("stop")),
        email="ci@example.org",
        idle_minutes=60,
    )
    GcpMachine("vm-gpu", args, opts)


@pytest.fixture(scope="module")
def live(cli: Found) -> Iterator[Engine]:
    """A stack with one machine, after an update. The tests restore its settings."""
    with Engine(cli, stack_file(SETTINGS), machine) as engine:
        outcome = engine.up()
        assert outcome.fault == ""
        yield engine


def only_machine(engine: Engine) -> CloudObject:
    (found,) = engine.cloud.of(gcp.INSTANCE)
    return found


def stop(instance: CloudObject) -> None:
    """Stop a machine as its idle timer does; the provider reads the status into an input only if it is stated."""
    instance.outputs = {**instance.outputs, "currentStatus": "TERMINATED"}
    if "desiredStatus" in instance.inputs:
        instance.inputs = {**instance.inputs, "desiredStatus": "TERMINATED"}


def test_an_update_does_not_start_a_stopped_machine(live: Engine) -> None:
    stop(only_machine(live))
    outcome = live.up()

    assert (outcome.fault, outcome.changes) == ("", ())
    assert only_machine(live).at("currentStatus") == "TERMINATED"


def test_a_new_schedule_is_attached_before_the_old_one_is_deleted(live: Engine) -> None:
    """Compute Engine deletes no schedule that a machine uses."""
    live.configure(stack_file({**SETTINGS, "gpu-ci:stop": "20:00"}))
    outcome = live.up()
    (schedule,) = live.cloud.of(RESOURCE_POLICY)

    assert outcome.fault == ""
    assert only_machine(live).at("resourcePolicies") == schedule.at("selfLink")
    assert {step.type for step in outcome.changes if step.op == "update"} >= {gcp.INSTANCE}


@pytest.mark.parametrize("change", [{"gpu-ci:hours": "8"}, {"gpu-ci:text": "#cloud-config\npackages: []\n"}])
def test_another_limit_or_boot_configuration_replaces_the_machine(live: Engine, change: dict[str, str]) -> None:
    live.configure(stack_file({**SETTINGS, "gpu-ci:stop": "20:00", **change}))
    outcome = live.preview()

    assert outcome.ok
    assert {step.type for step in outcome.changes if step.op == "replace"} == {gcp.INSTANCE}


def test_destroying_the_stack_deletes_the_machine_and_its_secret(cli: Found) -> None:
    with Engine(cli, stack_file(SETTINGS), machine) as engine:
        assert engine.up().fault == ""
        outcome = engine.destroy()

        assert outcome.fault == ""
        assert engine.cloud.remaining() == []
