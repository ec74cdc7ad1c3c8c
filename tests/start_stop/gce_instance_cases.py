"""Machines on Compute Engine: the commands against a local server that speaks its API, with faults."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from google.auth.exceptions import DefaultCredentialsError
from google.cloud import compute_v1

from gpu_ci.back_ends.start_stop.gpu_instance import gce
from gpu_ci.back_ends.start_stop.gpu_instance.gce import Gce
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
from tests.start_stop.compute_api import Compute, instance, serving
from tests.start_stop.stand_ins import FakeClock

pytestmark = pytest.mark.pure

LIMIT = timedelta(minutes=5)


@pytest.fixture
def compute() -> Compute:
    return Compute()


@pytest.fixture
def machine(compute: Compute) -> Iterator[Gce]:
    with serving(compute) as opened:
        yield opened


def life(machine: Gce, clock: FakeClock | None = None) -> Life:
    return Life(instance=machine, clock=clock or FakeClock(), say=list[str]().append)


def test_a_stopped_instance_is_started_and_stopped(compute: Compute, machine: Gce) -> None:
    compute.report = "online"

    life(machine).start(LIMIT)
    running = compute.status
    life(machine).stop(LIMIT)

    assert (running, compute.status) == ("RUNNING", "TERMINATED")
    assert [one for one in compute.requests if one in {"POST start", "POST stop"}] == ["POST start", "POST stop"]


def test_a_running_instance_is_not_started_again(compute: Compute, machine: Gce) -> None:
    compute.status, compute.report = "RUNNING", "busy"

    life(machine).start(LIMIT)

    assert "POST start" not in compute.requests


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("PROVISIONING", State.STARTING),
        ("STAGING", State.STARTING),
        ("RUNNING", State.RUNNING),
        ("STOPPING", State.STOPPING),
        ("PENDING_STOP", State.STOPPING),
        ("TERMINATED", State.STOPPED),
    ],
)
def test_the_states_of_compute_engine_are_known(compute: Compute, machine: Gce, status: str, state: State) -> None:
    compute.status = status

    assert machine.state() is state


def test_a_suspended_instance_is_an_error(compute: Compute, machine: Gce) -> None:
    compute.status = "SUSPENDED"

    with pytest.raises(Problem, match="gpu-ci-test-gpu is SUSPENDED"):
        life(machine).start(LIMIT)


def test_the_guest_attribute_states_the_runner(compute: Compute, machine: Gce) -> None:
    compute.status, compute.report = "RUNNING", "failed: the driver is not loaded"

    with pytest.raises(RunnerFailed, match="the driver is not loaded"):
        life(machine).start(LIMIT)


@pytest.mark.parametrize(("status", "report"), [("RUNNING", None), ("STOPPING", "online"), ("TERMINATED", "online")])
def test_a_stopped_machine_or_a_machine_without_attributes_has_no_report(
    compute: Compute, machine: Gce, status: str, report: str | None
) -> None:
    compute.status, compute.report = status, report

    assert machine.runner().word == ""


def test_the_time_of_the_last_start_is_known(compute: Compute, machine: Gce) -> None:
    assert machine.started_at() is None

    compute.started = "2026-11-22T00:30:00.123-08:00"

    assert machine.started_at() == datetime(2026, 11, 22, 8, 30, 0, 123000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("ZONE_RESOURCE_POOL_EXHAUSTED", NoCapacity),
        ("ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", NoCapacity),
        ("QUOTA_EXCEEDED", Denied),
        ("INTERNAL_ERROR", Problem),
    ],
)
def test_a_failed_operation_raises_the_matching_problem(
    compute: Compute, machine: Gce, code: str, kind: type[Problem]
) -> None:
    compute.errors = [code]

    with pytest.raises(kind) as raised:
        machine.start()

    assert type(raised.value) is kind
    assert code in str(raised.value)


def test_a_start_waits_for_capacity(compute: Compute, machine: Gce) -> None:
    compute.errors, compute.report = ["ZONE_RESOURCE_POOL_EXHAUSTED"] * 2, "online"

    life(machine).start(LIMIT)

    assert compute.requests.count("POST start") == 3


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (400, "The resource is not ready", gce.NotReady),
        (400, "Invalid value", Problem),
        (401, "Request had invalid authentication credentials", Denied),
        (403, "Required 'compute.instances.get' permission", Denied),
        (403, "rateLimitExceeded", Unavailable),
        (404, "was not found", NotFound),
        (429, "Too many requests", Unavailable),
        (503, "backend error", Unavailable),
    ],
)
def test_an_error_of_compute_engine_raises_the_matching_problem(
    compute: Compute, machine: Gce, status: int, message: str, kind: type[Problem]
) -> None:
    compute.faults = [(status, message)]

    with pytest.raises(kind) as raised:
        machine.state()

    assert type(raised.value) is kind


@pytest.mark.parametrize("fault", [(429, "Too many requests"), (500, "internal"), (503, "backend error")])
def test_a_start_and_a_stop_survive_errors_of_the_server(
    compute: Compute, machine: Gce, fault: tuple[int, str]
) -> None:
    compute.report = "online"
    compute.faults = [fault, None, None, fault, None, fault]
    life(machine).start(LIMIT)

    compute.faults = [fault, None, fault, fault]
    life(machine).stop(LIMIT)

    assert compute.status == "TERMINATED"


def test_a_server_that_does_not_answer_is_reported_after_the_deadline() -> None:
    clock = FakeClock()
    begin = clock.time

    with pytest.raises(Unavailable, match="Compute Engine did not answer"):
        life(instance("http://127.0.0.1:9"), clock).stop(LIMIT)

    assert clock.time - begin >= LIMIT


def test_missing_credentials_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_credentials() -> None:
        raise DefaultCredentialsError("no credentials")  # type: ignore[no-untyped-call]

    monkeypatch.setattr(compute_v1, "InstancesClient", without_credentials)
    with pytest.raises(Denied, match="no usable credentials of Google Cloud"):
        gce.open_instance({"cloud": "gcp", "project": "p", "zone": "z", "name": "n"})
