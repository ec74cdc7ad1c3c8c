"""Tests of the function that limits the running time of a machine, against a simulated EC2 in simulated time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from gpu_ci.back_ends.shared.machine.aws.function import index
from gpu_ci.back_ends.shared.machine.aws.time_limit import MINUTES

pytestmark = pytest.mark.pure

IMAGE: Final = "ami-12c6146b"
"""An image of the simulated EC2."""
LIMIT: Final = timedelta(hours=4)
STEP: Final = timedelta(minutes=MINUTES)


@pytest.fixture
def ec2(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    with mock_aws():
        yield boto3.client("ec2")


@pytest.fixture
def machine(ec2: Any) -> str:
    (found,) = ec2.run_instances(ImageId=IMAGE, MinCount=1, MaxCount=1)["Instances"]
    return str(found["InstanceId"])


def described(ec2: Any, machine: str) -> Any:
    return ec2.describe_instances(InstanceIds=[machine])["Reservations"][0]["Instances"][0]


def state(ec2: Any, machine: str) -> str:
    return str(described(ec2, machine)["State"]["Name"])


def started(ec2: Any, machine: str) -> datetime:
    launched: datetime = described(ec2, machine)["LaunchTime"]
    return launched


class Failing:
    """EC2, except that some calls fail once, and that the host of an instance may have failed."""

    def __init__(self, ec2: Any, *fails: str, status: str = "ok") -> None:
        self._ec2, self._fails, self._status = ec2, list(fails), status
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def call(**arguments: Any) -> Any:
            self.calls.append(name)
            if name in self._fails:
                self._fails.remove(name)
                raise ClientError({"Error": {"Code": "InternalError", "Message": "An internal error"}}, name)
            if name == "describe_instance_status":
                return {"InstanceStatuses": [{"SystemStatus": {"Status": self._status}}]}
            return getattr(self._ec2, name)(**arguments)

        return call


def test_a_machine_below_its_limit_keeps_running(ec2: Any, machine: str) -> None:
    index.check(ec2, machine, LIMIT, started(ec2, machine) + LIMIT - timedelta(seconds=1))

    assert state(ec2, machine) == "running"


def test_a_machine_at_its_limit_is_stopped(ec2: Any, machine: str) -> None:
    done = index.check(ec2, machine, LIMIT, started(ec2, machine) + LIMIT)

    assert state(ec2, machine) == "stopped"
    assert done == f"{machine} has run for 4:00:00, more than 4:00:00, and is stopped"


@pytest.mark.parametrize("offset", range(0, 15, 4))
def test_a_lost_stop_costs_at_most_the_limit_and_one_interval(ec2: Any, machine: str, offset: int) -> None:
    """Nothing else stops the machine: its timers, the workflow and GitHub do not work."""
    begin = started(ec2, machine)
    now = begin + timedelta(minutes=offset)
    while state(ec2, machine) == "running":
        index.check(ec2, machine, LIMIT, now)
        now += STEP

    assert now - STEP - begin <= LIMIT + STEP


def test_another_machine_is_not_stopped(ec2: Any, machine: str) -> None:
    other = ec2.run_instances(ImageId=IMAGE, MinCount=1, MaxCount=1)["Instances"][0]
    index.check(ec2, machine, LIMIT, started(ec2, machine) + 2 * LIMIT)

    assert (state(ec2, machine), state(ec2, other["InstanceId"])) == ("stopped", "running")


def test_a_stopped_machine_stays_stopped(ec2: Any, machine: str) -> None:
    ec2.stop_instances(InstanceIds=[machine])

    assert index.check(ec2, machine, LIMIT, datetime.now(UTC) + 2 * LIMIT) == f"{machine} is stopped"
    assert state(ec2, machine) == "stopped"


def test_a_restarted_machine_gets_the_full_time_limit(ec2: Any, machine: str) -> None:
    ec2.stop_instances(InstanceIds=[machine])
    ec2.start_instances(InstanceIds=[machine])
    index.check(ec2, machine, LIMIT, started(ec2, machine) + LIMIT / 2)

    assert state(ec2, machine) == "running"


def test_a_failed_call_is_an_error_and_the_next_one_stops_the_machine(ec2: Any, machine: str) -> None:
    """An error makes Lambda repeat the call."""
    faulty, late = Failing(ec2, "stop_instances"), started(ec2, machine) + LIMIT
    with pytest.raises(ClientError, match="InternalError"):
        index.check(faulty, machine, LIMIT, late)
    assert state(ec2, machine) == "running"
    index.check(faulty, machine, LIMIT, late + STEP)

    assert state(ec2, machine) == "stopped"


def test_a_machine_on_a_failed_host_is_stopped_and_started_once(ec2: Any, machine: str) -> None:
    now = started(ec2, machine) + STEP
    index.check(Failing(ec2, status="impaired"), machine, LIMIT, now)
    assert state(ec2, machine) == "stopped"
    index.check(ec2, machine, LIMIT, now + STEP)
    assert state(ec2, machine) == "running"
    ec2.stop_instances(InstanceIds=[machine])
    index.check(ec2, machine, LIMIT, now + 2 * STEP)

    assert state(ec2, machine) == "stopped"
    assert index.MARK not in {tag["Key"] for tag in described(ec2, machine).get("Tags", ())}


@pytest.mark.parametrize("status", ["ok", "initializing", "insufficient-data", "not-applicable"])
def test_a_host_without_a_fault_keeps_its_machine(ec2: Any, machine: str, status: str) -> None:
    index.check(Failing(ec2, status=status), machine, LIMIT, started(ec2, machine) + STEP)

    assert state(ec2, machine) == "running"


def test_the_handler_reads_its_event(ec2: Any, machine: str) -> None:
    assert index.handler({"instance": machine, "hours": 4}, None).startswith(f"{machine} has run for 0:00:0")
    assert state(ec2, machine) == "running"
