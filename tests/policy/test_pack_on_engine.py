"""The policy pack on the real engine: the engine passes the configuration, so that exceptions count."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Final

import pulumi
import pytest
from pulumi.automation.events import EngineEvent, PolicyEvent

from gpu_ci.stack_file.identity import PROJECT
from ops.engine.process import Cli, CommandFailedError
from ops.engine.program import serve
from ops.engine.pulumi_cli import Found
from tests.policy.pack import PACK, interpreter

pytestmark = pytest.mark.engine

INGRESS: Final = "kubernetes:networking.k8s.io/v1:Ingress"
LAST_DAY: Final = "2026-12-18"
DAY_AFTER: Final = "2026-12-19"
EXCEPTION: Final = {
    "check": "no-public-service",
    "subject": "Ingress web",
    "reason": "the demonstration is in December",
    "until": LAST_DAY,
}
STARTER: Final = """#!/bin/sh
# The starter of the release, which this machine may lack: https://github.com/pulumi/pulumi/tree/master/sdk/python/dist
exec {python} -u -m pulumi.policy "$1" "$2"
"""


def program() -> None:
    """Declare one resource that breaks a rule."""
    pulumi.ComponentResource(INGRESS, "web")


@pytest.fixture
def pulumi_(cli: Found, tmp_path: Path) -> Cli:
    """The CLI in the folder of a new stack, with the pack's starter on its PATH."""
    starter = tmp_path / "bin" / "pulumi-analyzer-policy-python"
    starter.parent.mkdir()
    starter.write_text(STARTER.format(python=interpreter()))
    starter.chmod(0o755)
    (tmp_path / "state").mkdir()
    (tmp_path / "Pulumi.yaml").write_text(json.dumps({"name": PROJECT, "runtime": "python"}))
    config = {f"{PROJECT}:exceptions": {"demo": EXCEPTION}}
    (tmp_path / "Pulumi.staging.yaml").write_text(json.dumps({"config": config}))
    made = Cli(
        cli,
        tmp_path,
        {
            "PATH": f"{starter.parent}:{cli.path.parent}:/usr/local/bin:/usr/bin:/bin",
            "PULUMI_BACKEND_URL": f"file://{tmp_path}/state",
            "PULUMI_CONFIG_PASSPHRASE": secrets.token_urlsafe(24),
        },
    )
    made.run("stack", "init", "--stack", "staging", "--secrets-provider", "passphrase")
    return made


def enforced(pulumi_: Cli, day: str, *command: str) -> tuple[bool, list[PolicyEvent]]:
    """Run a command with the pack on a day; return whether the engine accepts it, and the events of policies."""
    events: list[EngineEvent] = []
    with serve(program, events.append) as address:
        inline = (f"--client={address}", "--exec-kind=auto.inline", f"--event-log=tcp://{address}")
        try:
            pulumi_.run(*command, "--stack", "staging", "--policy-pack", str(PACK), *inline, GPU_CI_TODAY=day)
            accepted = True
        except CommandFailedError:
            accepted = False
    return accepted, [event.policy_event for event in events if event.policy_event is not None]


def resources(pulumi_: Cli) -> list[str]:
    """The types of the resources in the state."""
    deployment = json.loads(pulumi_.run("stack", "export", "--stack", "staging"))["deployment"]
    return [one["type"] for one in deployment.get("resources") or []]


def test_the_engine_accepts_an_allowed_violation_and_shows_it(pulumi_: Cli) -> None:
    accepted, (event,) = enforced(pulumi_, LAST_DAY, "preview")

    assert accepted
    assert (event.policy_name, event.enforcement_level) == ("allowed-violations", "advisory")
    assert "until 2026-12-18, by exceptions.demo: the demonstration is in December" in event.message


def test_the_engine_refuses_the_violation_after_the_end(pulumi_: Cli) -> None:
    accepted, (event,) = enforced(pulumi_, DAY_AFTER, "preview")

    assert not accepted
    assert (event.policy_name, event.enforcement_level) == ("no-public-service", "mandatory")


def test_an_update_that_follows_a_plan_is_enforced_again(pulumi_: Cli, tmp_path: Path) -> None:
    """The pipeline gives the pack to both commands; a plan is approved later than it is made."""
    plan = str(tmp_path / "plan.json")
    up = ("up", "--yes", "--plan", plan)
    assert enforced(pulumi_, LAST_DAY, "preview", "--save-plan", plan)[0]

    refused, (event, *_) = enforced(pulumi_, DAY_AFTER, *up)
    assert (refused, event.policy_name, resources(pulumi_)) == (False, "no-public-service", [])

    accepted, _ = enforced(pulumi_, LAST_DAY, *up)
    assert (accepted, resources(pulumi_)) == (True, ["pulumi:pulumi:Stack", INGRESS])
