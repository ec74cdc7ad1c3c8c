"""`pulumi up` reports errors before the first resource, and logs each warning on its resource."""

from __future__ import annotations

from pathlib import Path

import pytest
from pulumi.runtime.proto import engine_pb2, resource_pb2

from gpu_ci.derived.refusal import Refused
from gpu_ci.stack_file.reading.load import StackFileError
from ops.plan.model import STACK_TYPE
from ops.plan.recorder import Recorder, record
from ops.plan.stack_file import read
from tests.mistakes.catalogue import MISTAKES, Mistake, Severity, merge
from tests.mistakes.saying import write

pytestmark = pytest.mark.plan

BY_NAME = {mistake.name: mistake for mistake in MISTAKES}
TOO_LARGE, TOO_OLD = BY_NAME["a runner larger than its node"], BY_NAME["a driver branch too old for the CUDA version"]
MISSPELT = BY_NAME["a misspelt key"]


class Engine:
    """The resources that were registered, and the warnings with their URNs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.registered: list[str] = []
        self.warned: dict[str, str] = {}
        register = Recorder.RegisterResource

        def count(
            monitor: Recorder, request: resource_pb2.RegisterResourceRequest
        ) -> resource_pb2.RegisterResourceResponse:
            self.registered.append(request.type)
            return register(monitor, request)

        def log(_monitor: Recorder, request: engine_pb2.LogRequest) -> None:
            if request.severity == engine_pb2.WARNING:
                self.warned[request.message] = request.urn

        monkeypatch.setattr(Recorder, "RegisterResource", count)
        monkeypatch.setattr(Recorder, "Log", log)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    return Engine(monkeypatch)


@pytest.mark.parametrize("preview", [True, False])
def test_an_error_stops_the_program_before_its_first_resource(engine: Engine, tmp_path: Path, preview: bool) -> None:
    both = merge(TOO_LARGE.change, TOO_OLD.change)

    with pytest.raises(Refused) as refused:
        record(read(write(both, tmp_path)), preview=preview)

    first, *lines = str(refused.value).splitlines()
    assert set(engine.registered) <= {STACK_TYPE}
    assert first == "2 errors; no resource was created:"
    assert [line.split(": ")[1] for line in lines] == [TOO_LARGE.path, TOO_OLD.path]
    assert all(" → " in line for line in lines)


def test_an_exception_after_its_last_day_stops_the_program(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"exceptions\.image\.until: it ended on 2026-11-21"):
        record(read(write(BY_NAME["an exception that is over"].change, tmp_path)))

    assert set(engine.registered) <= {STACK_TYPE}


def test_an_allowed_finding_is_not_logged(engine: Engine, tmp_path: Path) -> None:
    change = merge(BY_NAME["an exception that ends soon"].change, {"exceptions": {"image": {"until": "2026-12-18"}}})

    record(read(write(change, tmp_path)))

    assert (engine.warned, len(engine.registered) > 100) == ({}, True)


def test_an_invalid_stack_file_stops_the_program(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(StackFileError) as refused:
        record(read(write(MISSPELT.change, tmp_path)))

    assert set(engine.registered) <= {STACK_TYPE}
    assert str(refused.value).splitlines() == [
        "1 fault in Pulumi.staging.yaml:",
        f'  {MISSPELT.path}: unknown key; did you mean "disk"?',
    ]


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("Spot with one type", "gpu-ci:aws:GpuPool::pool-t4-spot"),
        ("more jobs than the pools can hold", "gpu-ci:kubernetes:ScaleSet::runner-gpu-t4"),
        ("too few runners for the jobs of the working hours", "gpu-ci:kubernetes:ScaleSet::runner-gpu-t4"),
        (
            "a driver older than the CUDA version but of the same major version",
            "gpu-ci:gcp:CirunGoogleAccess::cirun-gcp",
        ),
        ("a CUDA image after its end of life", "gpu-ci:gcp:DockerRepository::repository-gpu-tests"),
    ],
)
def test_a_warning_is_logged_on_its_resource(engine: Engine, tmp_path: Path, name: str, owner: str) -> None:
    mistake: Mistake = BY_NAME[name]

    plan = record(read(write(mistake.change, tmp_path)))

    (urn,) = [urn for message, urn in engine.warned.items() if message.startswith(f"warning: {mistake.path}: ")]
    assert mistake.level is Severity.WARNING
    assert urn == f"urn:pulumi:staging::gpu-ci::{owner}"
    assert len(plan) > 100


def test_a_warning_without_a_resource_is_logged_on_the_stack(engine: Engine, tmp_path: Path) -> None:
    mistake = BY_NAME["a quota with a misspelt name"]

    record(read(write(mistake.change, tmp_path)))

    assert [urn for message, urn in engine.warned.items() if mistake.path in message] == [""]


def test_a_stack_without_mistakes_logs_no_warning(engine: Engine, tmp_path: Path) -> None:
    record(read(write({}, tmp_path)))

    assert len(engine.registered) > 100
    assert engine.warned == {}
