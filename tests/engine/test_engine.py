"""The engine driver: outcomes, secrets, errors and clean-up."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pulumi
import pytest

from ops.engine.engine import Engine
from ops.engine.events import Step
from ops.engine.pulumi_cli import Found
from ops.fakes.aws import names as aws
from ops.fakes.protocol.faults import Fault, FaultKind
from tests.engine import programs
from tests.engine.programs import SECRET, Made, aws_provider, stack_file

pytestmark = pytest.mark.engine

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def network(cli: Found) -> Iterator[Engine]:
    """A stack with a small network."""
    with Engine(cli, stack_file(), programs.network) as engine:
        assert engine.up().fault == ""
        yield engine


def test_an_update_creates_every_resource_and_leaves_no_changes(network: Engine) -> None:
    preview, refresh = network.preview(), network.refresh()

    assert sorted(obj.type for obj in network.cloud) == [aws.SUBNET, aws.VPC, aws.ROLE]
    assert (preview.ok, preview.changes, preview.counts) == (True, (), {"same": 6})
    assert (refresh.ok, refresh.changes) == (True, ())


def test_the_state_contains_resources_and_outputs(network: Engine) -> None:
    state = network.state()
    vpc = next(obj for obj in network.cloud.of(aws.VPC))

    assert state.outputs == {"password": "[secret]", "vpc": vpc.id}
    assert sorted(resource.name for resource in state.resources.values()) == [
        "aws",
        "gpu-ci-small",
        "network",
        "subnet",
        "vpc",
        "worker",
    ]


def test_a_secret_is_encrypted_in_the_state_and_in_the_configuration(network: Engine) -> None:
    state = (network.folder / "state/.pulumi/stacks/gpu-ci/small.json").read_text()
    configuration = (network.folder / "Pulumi.small.yaml").read_text()

    assert SECRET not in state + configuration
    assert (state.count("ciphertext"), configuration.count("secure:")) == (3, 1)
    assert SECRET in str(network.state().resources)


def test_the_callers_environment_does_not_reach_the_engine(cli: Found, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setenv("PULUMI_ACCESS_TOKEN", "a token")
    monkeypatch.setenv("PULUMI_BACKEND_URL", "https://elsewhere.invalid")
    monkeypatch.setenv("PULUMI_STACK", "production")
    seen: list[str | None] = []

    def program() -> None:
        seen.append(os.environ.get("AWS_REGION"))
        programs.network()

    with Engine(cli, stack_file(), program) as engine:
        outcome = engine.preview()

    assert (outcome.fault, seen) == ("", [None])


def declare(type_: str, inputs: dict[str, Any], package: str = "aws") -> Callable[[], None]:
    """A program with one resource, and an explicit provider if `package` is given."""

    def program() -> None:
        provider = pulumi.ProviderResource(package, package, {}) if package else None
        Made(type_, "one", inputs, pulumi.ResourceOptions(provider=provider))

    return program


def invalid() -> None:
    raise pulumi.RunError("gpu-pools.t4.min: 3 is more than max")


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        pytest.param(invalid, r"gpu-pools.t4.min: 3 is more than max$", id="run-error"),
        pytest.param(
            declare(aws.VPC, {"instanceTenancy": "shared"}),
            r'.*expected instanceTenancy to be one of \["default" "dedicated" "host"\], got shared',
            id="value",
        ),
        pytest.param(declare("aws:s3/object:Object", {}), ".*the fake clouds have no row for the type", id="type"),
        pytest.param(
            declare("random:index/randomId:RandomId", {}, "random"),
            "random: no resource plugin 'pulumi-resource-random' found",
            id="package-is-not-downloaded",
        ),
        pytest.param(declare(aws.KEY, {}, ""), ".*Default provider for 'aws' disabled", id="default-provider"),
    ],
)
def test_a_preview_reports_the_message_of_the_error(cli: Found, program: Callable[[], None], fault: str) -> None:
    with Engine(cli, stack_file(), program) as engine:
        outcome = engine.preview()

    assert not outcome.ok
    assert re.match(fault, outcome.fault, re.DOTALL)


def test_a_refusal_is_reported_with_the_message_of_the_cloud(cli: Found) -> None:
    def program() -> None:
        Made(aws.SUBNET, "subnet", {"vpcId": "vpc-0", "cidrBlock": "10.0.1.0/24"}, aws_provider())

    with Engine(cli, stack_file(), program) as engine:
        outcome = engine.up()

    assert outcome.fault == "subnet: InvalidVpcID.NotFound: The vpc ID 'vpc-0' does not exist"
    assert [str(step) for step in outcome.failed] == [f"create {aws.SUBNET} subnet"]


def test_a_changed_range_replaces_the_network_and_its_subnet(cli: Found) -> None:
    with Engine(cli, stack_file(), programs.network) as engine:
        engine.up()
        engine.configure(stack_file({"gpu-ci:range": "10.0.0.0/8"}))
        preview = engine.preview()
        update = engine.up()
        again = engine.preview()

    replaced = {step.name: step.changed for step in preview.changes if step.op == "replace"}
    assert replaced == {"subnet": {"vpcId": "update-replace"}, "vpc": {"cidrBlock": "update-replace"}}
    assert (update.fault, again.changes) == ("", ())


def test_a_changed_tag_updates_one_resource(cli: Found) -> None:
    with Engine(cli, stack_file(), programs.network) as engine:
        engine.up()
        engine.configure(stack_file({"gpu-ci:tags": '{"Team":"ml"}'}))
        update = engine.up()

    assert [(step.op, step.name, step.changed) for step in update.changes] == [("update", "vpc", {"tags.Team": "add"})]


def test_the_program_reads_a_configured_object(cli: Found) -> None:
    seen: list[object] = []

    def program() -> None:
        seen.append(pulumi.Config().require_object("tags"))

    with Engine(cli, stack_file({"gpu-ci:tags": '{"a":["<b>",1,true]}'}), program) as engine:
        engine.preview()

    assert seen == [{"a": ["<b>", 1, True]}]


def test_steps_are_reported_while_the_engine_runs(cli: Found) -> None:
    steps: list[Step] = []
    with Engine(cli, stack_file(), programs.network, on_step=steps.append) as engine:
        outcome = engine.up()

    assert tuple(steps) == outcome.steps


def test_a_destroy_deletes_everything_and_the_folder_is_removed(cli: Found) -> None:
    with Engine(cli, stack_file(), programs.network) as engine:
        engine.up()
        outcome = engine.destroy()

        assert (outcome.fault, engine.cloud.remaining(), dict(engine.state().resources)) == ("", [], {})
        assert engine.folder.is_dir()

    assert not engine.folder.exists()


def test_the_next_update_finishes_after_a_refused_create(cli: Found) -> None:
    with Engine(cli, stack_file(), lambda: programs.keys(6)) as engine:
        engine.faults.arm(Fault(operation="create", nth=4, message="ThrottlingException: Rate exceeded"))
        first = engine.up(parallel=1)
        second = engine.up()

    assert first.fault.endswith("ThrottlingException: Rate exceeded")
    assert len(first.failed) == 1
    assert second.fault == ""
    assert first.failed[0].urn in {step.urn for step in second.changes}
    assert len(engine.cloud) == 6


def test_a_provider_that_dies_before_the_call_creates_nothing(cli: Found) -> None:
    with Engine(cli, stack_file(), lambda: programs.keys(1)) as engine:
        engine.faults.arm(Fault(operation="create", kind=FaultKind.DIE))
        first = engine.up()
        left = engine.cloud.remaining()
        second = engine.up()

    assert (first.ok, left, second.fault) == (False, [], "")


def test_a_provider_that_dies_after_the_call_leaves_an_untracked_object(cli: Found) -> None:
    """A killed pipeline leaves this behind: the role exists, and the next update cannot create it."""
    with Engine(cli, stack_file(), programs.network) as engine:
        engine.faults.arm(Fault(operation="create", type=aws.ROLE, kind=FaultKind.DIE_AFTER))
        first = engine.up()
        known = [resource.type for resource in engine.state().resources.values()]
        second = engine.up()

    assert not first.ok
    assert aws.ROLE not in known
    assert [obj.id for obj in engine.cloud.of(aws.ROLE)] == ["worker"]
    assert "EntityAlreadyExists: Role with name worker already exists" in second.fault


HANGING = """
    import sys
    from ops.engine import pulumi_cli
    from ops.engine.engine import Engine
    from ops.fakes.protocol.faults import Fault, FaultKind
    from tests.engine import programs

    with Engine(pulumi_cli.installed(), programs.stack_file(), lambda: programs.keys(3)) as engine:
        print(engine.folder, flush=True)
        engine.faults.arm(Fault(operation="create", nth=2, kind=FaultKind.HANG))
        print(engine.up().ok)
"""


def processes_with(text: str) -> list[int]:
    """Return the processes whose command or environment contains a text."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            seen = (folder / "environ").read_bytes() + (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if text.encode() in seen and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found


@pytest.mark.usefixtures("cli")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, 128 + signal.SIGTERM)])
def test_an_interrupt_leaves_no_process_and_no_folder(number: signal.Signals, code: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HANGING)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        folder = process.stdout.readline().strip()
        waited = time.monotonic() + 30
        while len(processes_with(folder)) < 1 and time.monotonic() < waited:
            time.sleep(0.05)
        time.sleep(1.5)
        running = processes_with(folder)
        process.send_signal(number)
        try:
            process.communicate(timeout=30)
        finally:
            process.kill()

    assert running != []
    assert process.returncode == code
    assert processes_with(folder) == []
    assert not Path(folder).exists()
