"""The instance of Jarvis Labs, against local servers of both APIs in simulated time."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from jarvislabs import Client, constants

from gpu_ci.back_ends.start_stop.gpu_instance import jarvis
from gpu_ci.back_ends.start_stop.gpu_instance.cli import FILE, main
from gpu_ci.back_ends.start_stop.gpu_instance.problems import Denied
from tests.start_stop.jarvis_world import SECRET, START, TOKEN, Fault, World, serve

pytestmark = pytest.mark.pure

FACTS: Final[dict[str, Any]] = {
    "cloud": "jarvis",
    "name": "ci gpu",
    "gpu": "L4",
    "gpus": 1,
    "storage": 100,
    "template": "pytorch",
    "region": None,
    "script": "gpu-ci jarvis-l4",
    "runner_version": "2.337.0",
    "runner_sha256": "7" * 64,
    "owner": "repos/example-org/vision",
    "runner": "jarvis-l4",
    "labels": ["jarvis-l4"],
    "workflow": "gpu-machine-tests.yml",
    "job": "start",
    "max_hours": 4,
}


class Simulated:
    """The clock of a world."""

    def __init__(self, world: World) -> None:
        self._world = world

    def now(self) -> datetime:
        """Return the time."""
        return self._world.now

    def sleep(self, duration: timedelta) -> None:
        """Let time pass."""
        self._world.sleep(duration.total_seconds())


class _Elapsed:
    """The monotonic clock of a world."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __call__(self) -> float:
        """Return the seconds since the start."""
        return (self._world.now - START).total_seconds()


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def environment(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The variables of a workflow. Waiting costs simulated time only."""
    server = serve(world)
    base = f"http://127.0.0.1:{server.server_port}"
    opened: list[Client] = []

    def client(api_key: str) -> Client:
        opened.append(Client(api_key=api_key))
        return opened[-1]

    monkeypatch.setattr(jarvis, "Client", client)
    for region in constants.REGION_URLS:
        monkeypatch.setitem(constants.REGION_URLS, region, base)
    monkeypatch.setattr(time, "sleep", world.sleep)
    monkeypatch.setattr(time, "monotonic", _Elapsed(world))
    yield {
        "TOKEN_JARVIS": SECRET,
        "GITHUB_APP_TOKEN": TOKEN,
        "GITHUB_TOKEN": TOKEN,
        "GITHUB_API_URL": f"{base}/api",
        "GITHUB_REPOSITORY": "example-org/vision",
        "GITHUB_RUN_ID": "77",
        "GITHUB_RUN_ATTEMPT": "1",
    }
    for one in opened:
        one.close()
    server.shutdown()
    server.server_close()


@pytest.fixture
def run(world: World, environment: dict[str, str], tmp_path: Path) -> Callable[..., int]:
    """Run a command on the instance."""

    def command(*words: str, **facts: Any) -> int:
        (tmp_path / FILE).write_text(json.dumps({"jarvis-l4": {**FACTS, **facts}}), encoding="utf-8")

        def opener(found: Mapping[str, Any]) -> jarvis.Jarvis:
            return jarvis.open_instance(found, environment)

        return main([words[0], "jarvis-l4", *words[1:]], folder=tmp_path, opener=opener, clock=Simulated(world))

    return command


def _offline(number: int, name: str) -> dict[str, Any]:
    """Return a registration that is not used yet."""
    return {
        "id": number,
        "name": name,
        "status": "offline",
        "busy": False,
        "config": f"config-{number}",
        "used": False,
    }


def lines(capsys: pytest.CaptureFixture[str]) -> str:
    """Return everything that the command wrote."""
    shown = capsys.readouterr()
    return shown.out + shown.err


def test_a_start_creates_the_instance_and_waits_for_its_runner(world: World, run: Callable[..., int]) -> None:
    assert run("start") == 0
    assert world.named("ci gpu") == ["Running"]
    asked = world.instances[0]["asked"]
    assert {key: asked[key] for key in ("gpu_type", "num_gpus", "hdd", "region", "script_id")} == {
        "gpu_type": "L4",
        "num_gpus": 1,
        "hdd": 100,
        "region": "india-noida-01",
        "script_id": "1",
    }
    (runner,) = world.runners.values()
    assert (runner["name"], runner["labels"], runner["status"]) == ("jarvis-l4-77-1", ["jarvis-l4"], "online")


def test_a_start_resumes_a_paused_instance_whose_id_changes(world: World, run: Callable[..., int]) -> None:
    old = world.add("ci gpu", "Paused", hdd=200)["machine_id"]

    assert run("start") == 0
    (one,) = world.instances
    assert (one["status"], one["hdd"]) == ("Running", 200)
    assert one["machine_id"] != old


def test_a_start_of_a_running_instance_with_a_free_runner_succeeds(world: World, run: Callable[..., int]) -> None:
    assert run("start") == 0
    world.requests.clear()

    assert run("start") == 0
    assert not [one for one in world.requests if one.startswith(("POST", "DELETE"))]


def test_a_running_instance_with_an_ended_runner_is_restarted(world: World, run: Callable[..., int]) -> None:
    assert run("start") == 0
    world.runners.clear()

    assert run("start") == 0
    posts = [one.rpartition("/")[2] for one in world.requests if one.startswith("POST") and "templates" in one]
    assert posts == ["create", "resume"]
    assert "POST /misc/pause" in world.requests
    assert [one["status"] for one in world.runners.values()] == ["online"]


def test_a_start_waits_until_the_job_of_another_run_is_over(
    world: World, run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("start") == 0
    (runner,) = world.runners.values()
    runner["busy"] = True

    assert run("start", "--minutes", "5") == 7
    assert "occupied: jarvis-l4-77-1" in lines(capsys)
    assert "POST /misc/pause" not in world.requests


@pytest.mark.parametrize("status", ["Creating", "Resuming"])
def test_a_start_waits_for_another_running_start(world: World, run: Callable[..., int], status: str) -> None:
    world.scripts[1] = (FACTS["script"], "\nRUNNER_CONFIG=config-1\n")
    world.runners[1] = _offline(1, "jarvis-l4-76-1")
    world.add("ci gpu", status, script_id=1, then=(START + timedelta(minutes=2), "Running"))

    assert run("start") == 0
    assert not [one for one in world.requests if one.startswith("POST")]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("status", [0, 500, 502])
def test_a_lost_answer_creates_no_second_instance(
    world: World, run: Callable[..., int], status: int, *, after: bool
) -> None:
    world.faults.append(Fault("/create", status, after=after))
    world.unlisted = timedelta(seconds=30)

    assert run("start") == 0
    assert world.named("ci gpu") == ["Running"]
    assert [one["status"] for one in world.runners.values()] == ["online"]


@pytest.mark.parametrize("after", [False, True])
def test_a_lost_answer_to_a_resume_is_looked_up_by_name(world: World, run: Callable[..., int], *, after: bool) -> None:
    world.add("ci gpu", "Paused")
    world.faults.append(Fault("/resume", 0, after=after))

    assert run("start") == 0
    assert world.named("ci gpu") == ["Running"]


def test_an_answer_that_takes_too_long_counts_as_lost(
    world: World, run: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jarvislabs.transport.HTTP_TIMEOUT_READ_S", 0.2)
    world.add("ci gpu", "Running")
    world.faults.append(Fault("/misc/pause", -1, after=True))

    assert run("stop") == 0
    assert world.named("ci gpu") == ["Paused"]


@pytest.mark.parametrize(
    "fault",
    [
        Fault("/users/fetch", 429, times=9),
        Fault("/users/fetch", 500, times=9),
        Fault("/users/fetch", 0, times=9),
        Fault("/scripts/add", 429),
        Fault("/scripts/add", 500, after=True),
        Fault("/create", 429, times=3),
        Fault("/misc/status", 503, times=3),
        Fault("/generate-jitconfig", 502, after=True),
        Fault("/generate-jitconfig", 0, after=True),
        Fault("GET /api", 500, times=3),
        Fault("GET /api", 429, times=3),
    ],
    ids=lambda fault: f"{fault.words} {fault.status}",
)
def test_a_start_survives_a_fault_that_ends(world: World, run: Callable[..., int], fault: Fault) -> None:
    world.faults.append(fault)

    assert run("start") == 0
    assert world.named("ci gpu") == ["Running"]
    assert len(world.scripts) == 1
    assert [one["status"] for one in world.runners.values()] == ["online"]


@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [
        (Fault("/users/fetch", 401), 4, "refuses the API key; set the secret TOKEN_JARVIS"),
        (Fault("/create", 403, message="Insufficient balance"), 4, "the balance at Jarvis Labs is too low"),
        (Fault("/create", 402), 4, "add credit at https://jarvislabs.ai"),
        (Fault("/create", 422, message="bad template"), 1, "Jarvis Labs answered 422: bad template"),
        (Fault("/api/repos", 403), 4, "check the permissions and the key of the GitHub App"),
        (Fault("/api/repos", 404), 1, "check that the GitHub App is installed there"),
        (Fault("/users/fetch", 500, times=10**6), 8, "Jarvis Labs answered 500"),
    ],
)
def test_a_start_reports_a_lasting_fault_in_one_line(
    world: World, run: Callable[..., int], capsys: pytest.CaptureFixture[str], fault: Fault, code: int, words: str
) -> None:
    world.faults.append(fault)

    assert run("start") == code
    (line,) = [one for one in lines(capsys).splitlines() if one.startswith("::error::")]
    assert words in line


def test_a_runner_that_never_comes_online_is_an_error(
    world: World, run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    world.boots = False

    assert run("start", "--minutes", "15") == 7
    assert "ci gpu runs, but its runner is not online: offline: jarvis-l4-77-1" in lines(capsys)


def test_two_instances_of_the_name_are_refused(
    world: World, run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    world.add("ci gpu", "Paused")
    world.add("ci gpu", "Running")

    assert [run("start"), run("stop"), run("sweep")] == [3, 3, 3]
    assert '2 instances of Jarvis Labs have the name "ci gpu" (ids 1001, 1002)' in lines(capsys)


def test_an_instance_with_another_name_is_not_changed(world: World, run: Callable[..., int]) -> None:
    world.add("ci gpu 2", "Running")

    assert run("stop") == 0
    assert run("sweep") == 0
    assert world.named("ci gpu 2") == ["Running"]


def test_an_instance_cannot_move_to_another_region(
    world: World, run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    world.add("ci gpu", "Paused", region="europe-01")

    assert run("start", region="india-noida-01") == 1
    assert '"ci gpu" is in europe-01, and an instance cannot move to india-noida-01' in lines(capsys)


def test_a_failed_instance_is_reported(
    world: World, run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    world.add("ci gpu", "Failed")

    assert run("start") == 1
    assert '"ci gpu" is in the state Failed at Jarvis Labs; destroy it' in lines(capsys)


@pytest.mark.parametrize("status", ["Running", "Pausing", "Paused", "Creating", "Restarting", None])
def test_a_stop_pauses_in_every_state(world: World, run: Callable[..., int], status: str | None) -> None:
    if status is not None:
        one = world.add("ci gpu", status)
        ends = {"Pausing": "Paused", "Creating": "Running", "Restarting": "Running"}
        if status in ends:
            one["then"] = (START + timedelta(minutes=1), ends[status])

    assert run("stop") == 0
    assert world.named("ci gpu") == ([] if status is None else ["Paused"])


def test_a_stop_needs_no_token_of_the_app(world: World, environment: dict[str, str], run: Callable[..., int]) -> None:
    del environment["GITHUB_APP_TOKEN"]
    world.add("ci gpu", "Running")

    assert run("stop") == 0
    assert world.named("ci gpu") == ["Paused"]


@pytest.mark.parametrize("pausing", [timedelta(hours=9)])
def test_a_pause_that_never_ends_is_an_error(
    world: World, run: Callable[..., int], capsys: pytest.CaptureFixture[str], pausing: timedelta
) -> None:
    world.pausing = pausing
    world.add("ci gpu", "Running")

    assert run("stop", "--minutes", "10") == 7
    assert world.now - START >= timedelta(minutes=10)
    assert "ci gpu is stopping" in lines(capsys)


def test_a_pause_without_effect_is_requested_again(world: World, run: Callable[..., int]) -> None:
    world.add("ci gpu", "Running")
    world.faults += [Fault("/misc/pause", 200, times=2), Fault("/misc/pause", 400), Fault("/misc/pause", 500)]

    assert run("stop") == 0
    assert world.requests.count("POST /misc/pause") == 5


def test_a_registration_of_an_earlier_run_is_removed(world: World, run: Callable[..., int]) -> None:
    for number, name in ((1, "jarvis-l4-70-1"), (2, "another-70-1")):
        world.runners[number] = _offline(number, name)

    assert run("start") == 0
    assert sorted(one["name"] for one in world.runners.values()) == ["another-70-1", "jarvis-l4-77-1"]


def test_no_secret_is_in_the_output(
    world: World, environment: dict[str, str], run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    environment["GITHUB_ACTIONS"] = "true"
    world.faults += [Fault("/create", 500, times=2), Fault("/generate-jitconfig", 500)]

    assert [run("start"), run("status"), run("stop"), run("sweep")] == [0, 0, 0, 0]
    shown = lines(capsys).splitlines()
    (registration,) = world.runners.values()
    assert [one for one in shown if registration["config"] in one] == [f"::add-mask::{registration['config']}"]
    assert not [one for one in shown if SECRET in one or TOKEN in one]


def test_the_key_may_have_either_name_and_must_exist(environment: dict[str, str]) -> None:
    del environment["TOKEN_JARVIS"]
    with pytest.raises(Denied, match="TOKEN_JARVIS is missing"):
        jarvis.open_instance(FACTS, environment)

    assert jarvis.open_instance(FACTS, {**environment, "JL_API_KEY": SECRET}).name == "ci gpu"


def test_the_status_names_the_state_and_the_runner(run: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("start") == 0
    assert run("status") == 0
    assert "jarvis-l4: running, runner online: jarvis-l4-77-1" in lines(capsys)


ADDRESSES: Final = (
    "/users/fetch",
    "/create",
    "/resume",
    "/misc/pause",
    "/misc/status",
    "/scripts/",
    "/generate-jitconfig",
    "GET /api",
    "DELETE /api",
)


@pytest.mark.parametrize("seed", range(25))
def test_any_faults_leave_one_instance_that_a_stop_pauses(
    world: World, run: Callable[..., int], capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - chooses faults
    for status in ("Paused", "Running"):
        if not world.instances and chance.random() < 0.4:
            world.add("ci gpu", status)
    world.unlisted = timedelta(seconds=chance.choice([0, 15, 40]))
    world.faults += [
        Fault(
            chance.choice(ADDRESSES),
            chance.choice([0, 429, 500, 502, 503, 504]),
            times=chance.randint(1, 6),
            after=chance.random() < 0.5,
        )
        for _ in range(chance.randint(1, 5))
    ]

    started = run("start")
    assert started in {0, 7, 8}
    assert (started == 0) == ([one["status"] for one in world.runners.values()] == ["online"])
    world.faults.clear()
    world.sleep(60)
    assert run("stop") == 0
    assert len(world.instances) <= 1
    assert {one["status"] for one in world.instances} <= {"Paused"}
    assert len([one for one in lines(capsys).splitlines() if one.startswith("::error::")]) == (started != 0)


CRON: Final = timedelta(minutes=30)


def _active(world: World, started: datetime | None, status: str = "in_progress") -> None:
    jobs = [{"name": "start", "status": "completed", "started_at": started.isoformat()}] if started else []
    waiting = {"name": "test", "status": "queued", "started_at": None}
    world.runs.append({"id": len(world.runs) + 1, "status": status, "jobs": [*jobs, waiting]})


@pytest.mark.parametrize("status", ["in_progress", "queued", "pending", "waiting"])
def test_a_lost_stop_job_costs_at_most_the_bound(world: World, run: Callable[..., int], status: str) -> None:
    assert run("start") == 0
    _active(world, START, status)

    swept = 0
    while world.named("ci gpu") == ["Running"]:
        world.sleep(CRON.total_seconds())
        assert run("sweep") == 0
        swept += 1
        assert swept < 20
    assert timedelta(hours=4) < world.now - START <= timedelta(hours=4) + CRON + timedelta(minutes=2)


def test_an_instance_that_no_run_uses_is_paused_by_the_next_sweep(world: World, run: Callable[..., int]) -> None:
    assert run("start") == 0
    _active(world, START, "completed")
    _active(world, None, "queued")

    assert run("sweep") == 0
    assert world.named("ci gpu") == ["Paused"]


def test_a_later_run_counts_from_its_own_start(world: World, run: Callable[..., int]) -> None:
    assert run("start") == 0
    _active(world, START - timedelta(hours=20))
    _active(world, START)

    assert run("sweep") == 0
    assert world.named("ci gpu") == ["Running"]


def test_a_sweep_that_github_does_not_answer_fails_and_pauses_nothing(world: World, run: Callable[..., int]) -> None:
    assert run("start") == 0
    world.faults.append(Fault("/api/", 500, times=10**6))

    assert run("sweep") == 8
    assert world.named("ci gpu") == ["Running"]
