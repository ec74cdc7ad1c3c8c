"""Machines on EC2: the commands against moto, and against answers that EC2 gives in trouble."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import (
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
)
from moto import mock_aws
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.ec2.models import ec2_backends

from gpu_ci.back_ends.start_stop.gpu_instance.ec2 import Ec2, open_instance
from gpu_ci.back_ends.start_stop.gpu_instance.instance import State
from gpu_ci.back_ends.start_stop.gpu_instance.life import Life
from gpu_ci.back_ends.start_stop.gpu_instance.problems import (
    Denied,
    NoCapacity,
    NotFound,
    Problem,
    RunnerFailed,
    Unavailable,
)
from tests.start_stop.stand_ins import FakeClock

pytestmark = pytest.mark.pure

REGION = "us-west-2"
FACTS = {"cloud": "aws", "region": REGION, "name": "gpu-ci-test-gpu"}
LIMIT = timedelta(minutes=5)
CODES = {
    "InsufficientInstanceCapacity": NoCapacity,
    "IncorrectSpotRequestState": NoCapacity,
    "VcpuLimitExceeded": Denied,
    "UnauthorizedOperation": Denied,
    "ExpiredToken": Denied,
    "RequestLimitExceeded": Unavailable,
    "IncorrectInstanceState": Unavailable,
    "UnsupportedOperation": Problem,
}


@pytest.fixture(autouse=True, scope="module")
def _aws() -> Iterator[None]:
    """Replace AWS for the whole module: the client reads the description of EC2 for a second."""
    with pytest.MonkeyPatch.context() as patch, mock_aws():
        for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(key, "testing")
        yield


@pytest.fixture(autouse=True)
def _no_instances() -> None:
    ec2_backends[DEFAULT_ACCOUNT_ID][REGION].reset()


def launched(name: str = "gpu-ci-test-gpu", report: str = "") -> str:
    """Launch an instance as the stack does, and return its id."""
    tags = [{"Key": "Name", "Value": name}, *([{"Key": "gpu-ci-runner", "Value": report}] if report else [])]
    made = boto3.client("ec2", region_name=REGION).run_instances(
        ImageId="ami-12c6146b",
        MinCount=1,
        MaxCount=1,
        InstanceType="g4dn.xlarge",
        TagSpecifications=[{"ResourceType": "instance", "Tags": tags}],
    )
    return str(made["Instances"][0]["InstanceId"])


def stopped() -> str:
    identifier = launched()
    boto3.client("ec2", region_name=REGION).stop_instances(InstanceIds=[identifier])
    return identifier


def force(identifier: str, state: str) -> None:
    """Put an instance into a state that it only has for a moment."""
    ec2_backends[DEFAULT_ACCOUNT_ID][REGION].get_instance(identifier)._state.name = state


def report(identifier: str, text: str) -> None:
    """Write the tag, as the instance does."""
    boto3.client("ec2", region_name=REGION).create_tags(
        Resources=[identifier], Tags=[{"Key": "gpu-ci-runner", "Value": text}]
    )


def answering(machine: Ec2, operation: str, code: str, status: int = 400, times: int = 1000) -> list[str]:
    """Let EC2 answer an operation with an error; return the list of its calls."""
    calls: list[str] = []
    message = "Not now. Encoded authorization failure message: aaaa"

    def answer(**_: Any) -> tuple[AWSResponse, dict[str, Any]] | None:
        calls.append(operation)
        if len(calls) > times:
            return None
        parsed = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}
        return AWSResponse("https://ec2", status, {}, BytesIO()), parsed

    machine.client.meta.events.register_first(f"before-call.ec2.{operation}", answer)
    return calls


def life(machine: Ec2, clock: FakeClock | None = None, lines: list[str] | None = None) -> Life:
    shown = lines if lines is not None else []
    return Life(instance=machine, clock=clock or FakeClock(), say=shown.append)


def test_a_stopped_instance_is_started_and_stopped() -> None:
    identifier, machine = stopped(), open_instance(FACTS)
    states = [machine.state()]

    machine.start()
    states.append(machine.state())
    report(identifier, "online")
    life(machine).start(LIMIT)
    life(machine).stop(LIMIT)

    assert [*states, machine.state()] == [State.STOPPED, State.RUNNING, State.STOPPED]


def test_a_running_instance_is_not_started_again() -> None:
    report(launched(), "online")
    machine, lines = open_instance(FACTS), list[str]()
    calls = answering(machine, "StartInstances", "InternalError")

    life(machine, lines=lines).start(LIMIT)

    assert calls == []
    assert lines == ["gpu-ci-test-gpu runs, and its runner is online"]


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("pending", State.STARTING),
        ("running", State.RUNNING),
        ("stopping", State.STOPPING),
        ("shutting-down", State.STOPPING),
        ("stopped", State.STOPPED),
    ],
)
def test_the_states_of_ec2_are_known(name: str, state: State) -> None:
    force(launched(), name)

    assert open_instance(FACTS).state() is state


def test_the_tag_states_the_runner() -> None:
    report(launched(), "failed: the driver is not loaded")

    runner = open_instance(FACTS).runner()

    assert (runner.word, runner.reason) == ("failed", "the driver is not loaded")


def test_a_failed_runner_is_reported_with_its_reason() -> None:
    report(launched(), "failed: the driver is not loaded")

    with pytest.raises(RunnerFailed, match="the runner of gpu-ci-test-gpu cannot start: the driver is not loaded"):
        life(open_instance(FACTS)).start(LIMIT)


def test_the_time_of_the_last_start_is_known() -> None:
    launched()

    started = open_instance(FACTS).started_at()

    assert started is not None
    assert timedelta(0) <= datetime.now(UTC) - started < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("count", "reason"),
    [
        (0, "EC2 has no instance gpu-ci-test-gpu in us-west-2; run pulumi up"),
        (2, "EC2 has 2 instances gpu-ci-test-gpu: i-"),
    ],
)
def test_a_name_without_exactly_one_instance_is_an_error(count: int, reason: str) -> None:
    for _ in range(count):
        launched()
    launched("gpu-ci-test-other")

    with pytest.raises(NotFound, match=reason):
        open_instance(FACTS).state()


def test_a_terminated_instance_with_the_same_name_is_ignored() -> None:
    boto3.client("ec2", region_name=REGION).terminate_instances(InstanceIds=[launched()])
    launched()

    assert open_instance(FACTS).state() is State.RUNNING


@pytest.mark.parametrize(("code", "kind"), CODES.items())
def test_an_error_of_ec2_raises_the_matching_problem(code: str, kind: type[Problem]) -> None:
    stopped()
    machine = open_instance(FACTS)
    answering(machine, "StartInstances", code)

    with pytest.raises(kind) as raised:
        machine.start()

    assert type(raised.value) is kind
    assert "Not now." in str(raised.value)
    assert "aaaa" not in str(raised.value)


def test_a_start_waits_for_capacity() -> None:
    identifier, machine, lines = stopped(), open_instance(FACTS), list[str]()
    report(identifier, "stopped: idle")
    calls = answering(machine, "StartInstances", "InsufficientInstanceCapacity", times=2)
    clock = FakeClock()

    def booted(line: str) -> None:
        lines.append(line)
        if machine.state() is State.RUNNING:
            report(identifier, "online")

    Life(instance=machine, clock=clock, say=booted).start(LIMIT)

    assert len(calls) == 3
    assert lines[0] == "EC2 has no capacity for gpu-ci-test-gpu now (InsufficientInstanceCapacity): Not now."


def test_no_capacity_until_the_deadline_is_an_error() -> None:
    stopped()
    machine = open_instance(FACTS)
    answering(machine, "StartInstances", "InsufficientInstanceCapacity")

    with pytest.raises(NoCapacity, match="no capacity"):
        life(machine).start(LIMIT)


def test_a_missing_permission_ends_the_stop_at_once() -> None:
    launched()
    machine, clock = open_instance(FACTS), FakeClock()
    begin = clock.time
    answering(machine, "StopInstances", "UnauthorizedOperation", 403)

    with pytest.raises(Denied, match=r"AWS does not allow the StopInstances of gpu-ci-test-gpu \(UnauthorizedOp"):
        life(machine, clock).stop(LIMIT)

    assert clock.time == begin


def test_a_stop_survives_errors_of_the_server() -> None:
    launched()
    machine = open_instance(FACTS)
    calls = answering(machine, "StopInstances", "ServiceUnavailable", 503, times=4)

    life(machine).stop(LIMIT)

    assert (len(calls), machine.state()) == (5, State.STOPPED)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ConnectTimeoutError(endpoint_url="https://ec2"), Unavailable),
        (ReadTimeoutError(endpoint_url="https://ec2"), Unavailable),
        (EndpointConnectionError(endpoint_url="https://ec2"), Unavailable),
        (NoCredentialsError(), Denied),
    ],
)
def test_a_request_without_an_answer_is_a_problem(error: Exception, kind: type[Problem]) -> None:
    machine = open_instance(FACTS)

    def fail(**_: Any) -> None:
        raise error

    machine.client.meta.events.register_first("before-call.ec2.DescribeInstances", fail)
    with pytest.raises(kind):
        machine.state()
