"""A whole stack with one machine on Compute Engine."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

import pytest

from ops.plan.recorder import record
from ops.plan.stack_file import StackFile
from tests.components.made import only, part, waits_for
from tests.plan import stacks

pytestmark = pytest.mark.plan

EXAMPLE: Final = "examples/vm-gcp.yaml"
WITH_IMAGE: Final = "examples/cirun-gcp.yaml"
INSTANCE: Final = "gcp:compute/instance:Instance"
SERVICE: Final = "gcp:projects/service:Service"
SECRETS: Final = re.compile(r"PRIVATE KEY|gh[pousr]_[A-Za-z0-9]{20}|github_pat_|AKIA[A-Z0-9]{16}|private_key_id")


def with_own_image() -> StackFile:
    """The stack that builds `host-image`, with one more runner on a machine that boots it."""
    machine = {"cloud": "gcp", "zone": "us-central1-b", "machine-type": "n1-standard-8", "image": "own"}

    def change(runners: dict[str, Any]) -> None:
        runners["gpu-vm"] = {
            "needs": {"gpu": "t4", "cpu": 4, "memory": "14Gi", "cuda": "12.9"},
            "timeout-minutes": 60,
            "vm": machine,
        }

    stated = stacks.changed(WITH_IMAGE, "runners", change)
    github = '{"url": "https://github.com/example-org/vision", "app-id": 412345, "installation-id": 51234567}'
    return replace(stated, config={**stated.config, "gpu-ci:github": github})


def test_no_input_contains_a_secret() -> None:
    found = [
        (one.urn, key)
        for one in stacks.planned(EXAMPLE)
        for key, value in one.inputs.items()
        if SECRETS.search(repr(value))
    ]

    assert found == []


def test_no_resource_of_the_stack_needs_the_key_of_the_app() -> None:
    file = stacks.stack_file(EXAMPLE)

    assert file.secret_keys == frozenset()
    assert [one.type for one in stacks.planned(EXAMPLE) if "secretVersion" in one.type] == []


def test_the_boot_configuration_reads_the_declared_secret() -> None:
    plan = stacks.planned(EXAMPLE)
    secret = part(only(plan, "gcp:secretmanager/secret:Secret"), "secretId")

    assert secret == "gpu-ci-vm-gcp-vm-github-app-private-key"
    assert secret in part(only(plan, INSTANCE), "metadata", "user-data")


def test_a_stack_with_a_machine_enables_the_apis_of_the_machine() -> None:
    enabled = {one.inputs["service"].partition(".")[0] for one in stacks.planned(EXAMPLE).of(SERVICE)}

    assert {"iap", "monitoring", "secretmanager"} <= enabled
    assert not {"iap", "monitoring", "secretmanager"} & {
        one.inputs["service"].partition(".")[0] for one in stacks.planned(WITH_IMAGE).of(SERVICE)
    }


def test_the_outputs_have_the_commands_of_the_machine() -> None:
    commands = stacks.planned(EXAMPLE).outputs["vm"]["gpu-vm"]

    assert commands["add-key"] == (
        "gcloud secrets versions add gpu-ci-vm-gcp-vm-github-app-private-key --project gpu-test-runners"
        " --data-file key.pem"
    )
    assert "enable-tests" not in commands


def test_without_a_token_the_outputs_have_the_command_of_the_switch() -> None:
    stated = stacks.changed(EXAMPLE, "github", lambda github: github.pop("set-variables"))

    assert record(stated).outputs["vm"]["gpu-vm"]["enable-tests"] == (
        "gh variable set ENABLE_GPU_SMOKE --repo example-org/vision --body true"
    )


def test_a_machine_boots_the_own_image_after_its_tests() -> None:
    # Its quotas are those of the example.
    plan = record(with_own_image(), refuse=False)
    machine = only(plan, INSTANCE)
    (build,) = [one for one in plan.of("command:local:Command") if "update" in one.inputs]
    name = part(build, "environment")["GPU_IMAGE_NAME"]

    image = part(machine, "bootDisk", "initializeParams", "image")
    assert image == f"projects/gpu-test-runners/global/images/{name}"
    assert waits_for(plan, machine, build)
    assert part(machine, "shieldedInstanceConfig", "enableSecureBoot") is True


def test_a_stack_with_machines_on_compute_engine_only_has_their_commands() -> None:
    both = stacks.changed("examples/start-stop.yaml", "runners", lambda runners: runners.pop("gpu-t4"))
    config = {key: text for key, text in both.config.items() if key != "gpu-ci:gpu-tests"}

    commands = record(replace(both, config=config)).outputs["start_stop"]
    assert sorted(commands) == ["gpu-l4"]
    assert commands["gpu-l4"]["start"].startswith("gcloud compute instances start gpu-ci-start-stop-gpu-l4 ")
