"""A simulated machine, and a clock that only moves when someone waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from gpu_ci.back_ends.start_stop.gpu_instance.instance import Runner, State
from gpu_ci.back_ends.start_stop.gpu_instance.life import Life
from gpu_ci.back_ends.start_stop.gpu_instance.problems import Problem, Unavailable

BEGIN = datetime(2026, 11, 22, 8, tzinfo=UTC)
CHANGE = timedelta(seconds=40)
"""The time that a start or a stop takes."""
BOOT = timedelta(minutes=2)
"""The time from the running state to the runner's first job."""


@dataclass(slots=True)
class FakeClock:
    """A clock that only moves when someone waits."""

    time: datetime = BEGIN

    def now(self) -> datetime:
        return self.time

    def sleep(self, duration: timedelta) -> None:
        self.time += duration


@dataclass(slots=True)
class FakeMachine:
    """A machine that changes its state in simulated time, as a cloud does, and whose calls can fail."""

    clock: FakeClock
    name: str = "gpu-ci-test-gpu"
    current: State = State.STOPPED
    changes_at: datetime | None = None
    """The end of the change that is in progress."""
    launched: datetime | None = None
    report: str = ""
    """The report that is left from the last time."""
    word: str = "online"
    """The report that the machine makes after it has booted."""
    first: str = "booting"
    """The report that the machine makes before."""
    faults: list[Callable[[str], Problem] | None] = field(default_factory=list)
    """The faults of the next calls, in their order; None is a call that succeeds."""
    calls: list[str] = field(default_factory=list)

    def state(self) -> State:
        self._answer("state")
        return self._now()

    def start(self) -> None:
        self._answer("start")
        if self._now() is not State.STOPPED:
            raise Unavailable("the machine changes its state")
        self.current, self.changes_at, self.launched = State.STARTING, self.clock.time + CHANGE, self.clock.time

    def stop(self) -> None:
        self._answer("stop")
        if self._now() in {State.RUNNING, State.STARTING}:
            self.current, self.changes_at = State.STOPPING, self.clock.time + CHANGE

    def runner(self) -> Runner:
        self._answer("runner")
        if self._now() is State.RUNNING and self.launched is not None:
            since = self.clock.time - self.launched
            self.report = self.word if since >= CHANGE + BOOT else self.first
        return Runner.read(self.report)

    def started_at(self) -> datetime | None:
        self._answer("started_at")
        return self.launched

    def _now(self) -> State:
        if self.changes_at is not None and self.clock.time >= self.changes_at:
            self.current = State.RUNNING if self.current is State.STARTING else State.STOPPED
            self.changes_at = None
        return self.current

    def _answer(self, call: str) -> None:
        self.calls.append(call)
        fault = self.faults.pop(0) if self.faults else None
        if fault is not None:
            raise fault(f"{call} failed")


@dataclass(slots=True)
class World:
    """A machine with its commands and the lines that they show."""

    clock: FakeClock = field(default_factory=FakeClock)
    lines: list[str] = field(default_factory=list)
    machine: FakeMachine = field(init=False)
    life: Life = field(init=False)

    def __post_init__(self) -> None:
        self.machine = FakeMachine(clock=self.clock)
        self.life = Life(instance=self.machine, clock=self.clock, say=self.lines.append)
