"""Start, stop and sweep of a machine in simulated time, with faults at any call."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_ci.back_ends.start_stop.gpu_instance.instance import Runner, State
from gpu_ci.back_ends.start_stop.gpu_instance.life import Life
from gpu_ci.back_ends.start_stop.gpu_instance.problems import (
    Denied,
    NoCapacity,
    Problem,
    RunnerFailed,
    TimedOut,
    Unavailable,
)
from tests.start_stop.stand_ins import BEGIN, BOOT, CHANGE, World

pytestmark = pytest.mark.pure

LIMIT = timedelta(minutes=20)


def test_a_start_waits_until_the_runner_is_online() -> None:
    world = World()

    world.life.start(LIMIT)

    assert world.machine.state() is State.RUNNING
    assert world.clock.time - BEGIN >= CHANGE + BOOT
    assert world.lines[-1] == "gpu-ci-test-gpu runs, and its runner is online"


def test_a_start_of_a_running_machine_succeeds_and_requests_nothing() -> None:
    world = World()
    world.machine.current, world.machine.launched = State.RUNNING, BEGIN - timedelta(hours=1)

    world.life.start(LIMIT)

    assert "start" not in world.machine.calls
    assert world.clock.time == BEGIN


def test_a_start_of_a_stopping_machine_waits_until_it_is_stopped() -> None:
    world = World()
    world.machine.current, world.machine.changes_at = State.STOPPING, BEGIN + CHANGE

    world.life.start(LIMIT)

    assert world.machine.calls.count("start") == 1
    assert world.machine.launched is not None
    assert world.machine.launched >= BEGIN + CHANGE


@pytest.mark.parametrize("report", ["online", "failed: the driver is not loaded"])
def test_a_report_from_before_the_start_is_ignored(report: str) -> None:
    world = World()
    world.machine.report = report

    world.life.start(LIMIT)

    assert world.clock.time - BEGIN >= CHANGE + BOOT


def test_a_report_that_never_changes_is_believed_after_a_while() -> None:
    world = World()
    world.machine.report = world.machine.first = "online"

    world.life.start(LIMIT)

    assert timedelta(minutes=5) <= world.clock.time - BEGIN < timedelta(minutes=6)
    assert "gpu-ci-test-gpu runs, but has not reported since its start; before it was: online" in world.lines
    assert not [line for line in world.lines if "not online: online" in line]


def test_a_failed_runner_ends_the_start_with_its_reason() -> None:
    world = World()
    world.machine.word = "failed: the driver is not loaded"

    with pytest.raises(RunnerFailed, match="cannot start: the driver is not loaded"):
        world.life.start(LIMIT)

    assert world.clock.time - BEGIN < CHANGE + BOOT + timedelta(seconds=30)


def test_a_machine_that_stops_before_its_runner_is_online_ends_the_start() -> None:
    world = World()
    world.machine.word = "booting"
    stop_at = BEGIN + timedelta(minutes=3)

    def watched(line: str) -> None:
        world.lines.append(line)
        if world.clock.time >= stop_at:
            world.machine.stop()

    life = Life(instance=world.machine, clock=world.clock, say=watched)
    with pytest.raises(RunnerFailed, match="stopped before its runner was online: booting"):
        life.start(LIMIT)


def test_a_start_without_capacity_is_repeated_until_there_is_capacity() -> None:
    world = World()
    world.machine.faults = [None, None, NoCapacity, None, None, NoCapacity]

    world.life.start(LIMIT)

    assert world.machine.calls.count("start") == 3


def test_no_capacity_until_the_deadline_is_the_reported_problem() -> None:
    world = World()
    world.machine.faults = [None, None, NoCapacity] * 1000

    with pytest.raises(NoCapacity):
        world.life.start(LIMIT)

    assert LIMIT <= world.clock.time - BEGIN < LIMIT + timedelta(minutes=1)


def test_a_runner_that_never_comes_online_is_reported_with_its_last_status() -> None:
    world = World()
    world.machine.word = "waiting: the key of the GitHub App is missing"

    with pytest.raises(TimedOut, match="not online: waiting: the key of the GitHub App is missing"):
        world.life.start(LIMIT)


def test_a_denied_call_ends_the_start_at_once() -> None:
    world = World()
    world.machine.faults = [None, None, Denied]

    with pytest.raises(Denied):
        world.life.start(LIMIT)

    assert world.clock.time == BEGIN


def test_a_stop_waits_until_the_machine_is_stopped() -> None:
    world = World()
    world.life.start(LIMIT)

    world.life.stop(LIMIT)

    assert world.machine.state() is State.STOPPED
    assert world.lines[-1] == "gpu-ci-test-gpu is stopped"


def test_a_stop_of_a_stopped_machine_succeeds_and_requests_nothing() -> None:
    world = World()

    world.life.stop(LIMIT)

    assert "stop" not in world.machine.calls


def test_a_stop_that_never_ends_is_an_error() -> None:
    world = World()
    world.machine.current = State.STOPPING

    with pytest.raises(TimedOut, match="is stopping and was requested to stop; stop it by hand"):
        world.life.stop(LIMIT)


@pytest.mark.parametrize(("hours", "stopped"), [(3, False), (4, False), (5, True)])
def test_a_sweep_stops_a_machine_that_runs_for_longer_than_the_bound(hours: int, *, stopped: bool) -> None:
    world = World()
    world.machine.current, world.machine.launched = State.RUNNING, BEGIN - timedelta(hours=hours)

    world.life.sweep(timedelta(hours=4), LIMIT)

    assert (world.machine.current is State.STOPPED) is stopped


def test_a_sweep_stops_a_machine_whose_start_is_unknown() -> None:
    world = World()
    world.machine.current = State.RUNNING

    world.life.sweep(timedelta(hours=4), LIMIT)

    assert world.machine.current is State.STOPPED


@pytest.mark.parametrize(
    ("text", "word", "reason", "ready", "failed"),
    [
        ("online", "online", "", True, False),
        ("busy", "busy", "", True, False),
        ("failed: no driver: run nvidia-smi", "failed", "no driver: run nvidia-smi", False, True),
        ("stopped: idle", "stopped", "idle", False, False),
        ("", "", "", False, False),
    ],
)
def test_a_report_is_read(text: str, word: str, reason: str, *, ready: bool, failed: bool) -> None:
    runner = Runner.read(text)

    assert (runner.word, runner.reason, runner.ready, runner.failed) == (word, reason, ready, failed)
    assert str(runner) == (text or "unknown")


FAULTS: st.SearchStrategy[Callable[[str], Problem] | None] = st.sampled_from([None, None, NoCapacity, Unavailable])
COMMANDS = st.lists(st.tuples(st.sampled_from(["start", "stop", "sweep"]), st.lists(FAULTS, max_size=40)), max_size=6)


@given(
    commands=COMMANDS,
    begin=st.sampled_from(list(State)),
    word=st.sampled_from(["online", "busy", "booting", "failed: x"]),
)
def test_any_sequence_of_commands_and_faults_ends_in_a_defined_state(
    commands: list[tuple[str, list[Callable[[str], Problem] | None]]], begin: State, word: str
) -> None:
    world = World()
    world.machine.word, world.machine.current = word, begin
    if begin in {State.STARTING, State.STOPPING}:
        world.machine.changes_at = BEGIN + CHANGE
    if begin in {State.STARTING, State.RUNNING}:
        world.machine.launched = BEGIN
    for command, faults in commands:
        world.machine.faults, before = list(faults), world.clock.time
        problem: Problem | None = None
        try:
            if command == "start":
                world.life.start(LIMIT)
            elif command == "stop":
                world.life.stop(LIMIT)
            else:
                world.life.sweep(timedelta(hours=4), LIMIT)
        except Problem as error:
            problem = error
        assert world.clock.time - before < LIMIT + timedelta(minutes=1)
        world.machine.faults = []
        state, runner = world.machine.state(), world.machine.runner()
        if problem is None and command == "start":
            assert (state, runner.ready) == (State.RUNNING, True)
        elif problem is None and command == "stop":
            assert state is State.STOPPED

    world.life.stop(LIMIT)

    assert world.machine.state() is State.STOPPED
