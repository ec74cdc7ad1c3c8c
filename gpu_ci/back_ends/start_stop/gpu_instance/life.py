"""The life of a machine around the tests: it is started, observed and stopped, also when calls fail."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, Protocol

from gpu_ci.back_ends.start_stop.gpu_instance.instance import Runner, State
from gpu_ci.back_ends.start_stop.gpu_instance.problems import NoCapacity, RunnerFailed, TimedOut, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpu_ci.back_ends.start_stop.gpu_instance.instance import Instance

POLL: Final = timedelta(seconds=10)
SETTLED: Final = timedelta(minutes=5)
"""The time after a start within which a machine makes its first report. It may be the same as the last one before."""
AFTER_NO_CAPACITY: Final = timedelta(seconds=30)


class Clock(Protocol):
    """The time, which tests simulate."""

    def now(self) -> datetime:
        """Return the time with a time zone."""
        ...

    def sleep(self, duration: timedelta) -> None:
        """Wait."""
        ...


class SystemClock:
    """The clock of the system."""

    def now(self) -> datetime:
        """Return the time with a time zone."""
        return datetime.now(UTC)

    def sleep(self, duration: timedelta) -> None:
        """Wait."""
        time.sleep(duration.total_seconds())


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """The commands on one machine."""

    instance: Instance
    clock: Clock
    say: Callable[[str], None]
    """Shows one line of progress."""

    def start(self, limit: timedelta) -> None:
        """Start the machine unless it runs, and wait until its runner is online.

        Raises:
            RunnerFailed: the machine reports that its runner cannot start, or it stopped before its runner was online.
            NoCapacity: the cloud had no free machine until `limit` was over.
            TimedOut: the runner was not online when `limit` was over.
            Unavailable: the cloud did not answer until `limit` was over.

        """
        deadline = self.clock.now() + limit
        old: Runner | None = None  # the report of the previous start
        ours, ran, fresh = False, False, False
        problem: NoCapacity | TimedOut | Unavailable = TimedOut(f"{self.instance.name} was not started")
        while self.clock.now() < deadline:
            pause = POLL
            try:
                state, runner = self.instance.state(), self.instance.runner()
                if state is State.RUNNING:
                    ran = ours and not runner.spent
                    fresh = fresh or runner != old or ((runner.ready or runner.failed) and self._has_settled())
                    stale = "but has not reported since its start; before it was:"
                    what = "but its runner is not online:" if fresh else stale
                    problem = TimedOut(f"{self.instance.name} runs, {what} {runner}")
                    if fresh and runner.ready:
                        self.say(f"{self.instance.name} runs, and its runner is {runner}")
                        return
                    if fresh and runner.failed:
                        raise RunnerFailed(f"the runner of {self.instance.name} cannot start: {runner.reason}")
                    if runner.spent:
                        self.instance.stop()
                else:
                    old, fresh = runner, False
                    problem = TimedOut(f"{self.instance.name} is still {state}")
                if state is State.STOPPED:
                    if ran:
                        raise RunnerFailed(f"{self.instance.name} stopped before its runner was online: {runner}")
                    self.instance.start()
                    ours = True
                    problem = TimedOut(f"{self.instance.name} was started, but does not run")
                self.say(str(problem))
            except (NoCapacity, Unavailable) as error:
                self.say(str(error))
                problem, pause = error, AFTER_NO_CAPACITY if isinstance(error, NoCapacity) else POLL
            self.clock.sleep(pause)
        raise problem

    def _has_settled(self) -> bool:
        """Return whether the machine has run for so long that its report cannot be that of an earlier start."""
        started = self.instance.started_at()
        return started is not None and self.clock.now() - started >= SETTLED

    def stop(self, limit: timedelta) -> None:
        """Stop the machine unless it is stopped, and wait until it is.

        Raises:
            TimedOut: it was not stopped when `limit` was over.
            Unavailable: the cloud did not answer until `limit` was over.

        """
        deadline = self.clock.now() + limit
        problem: TimedOut | Unavailable = TimedOut(f"{self.instance.name} was not stopped")
        while self.clock.now() < deadline:
            try:
                state = self.instance.state()
                if state is State.STOPPED:
                    self.say(f"{self.instance.name} is stopped")
                    return
                if state is not State.STOPPING:
                    self.instance.stop()
                problem = TimedOut(f"{self.instance.name} is {state} and was requested to stop; stop it by hand")
            except Unavailable as error:
                self.say(str(error))
                problem = error
            self.clock.sleep(POLL)
        raise problem

    def sweep(self, bound: timedelta, limit: timedelta) -> None:
        """Stop the machine if it has run for longer than `bound`."""
        if self.instance.state() is State.STOPPED:
            self.say(f"{self.instance.name} is stopped")
            return
        started = self.instance.started_at()
        if started is not None and self.clock.now() - started <= bound:
            self.say(f"{self.instance.name} has run since {started:%Y-%m-%d %H:%M} UTC, which is within {bound}")
            return
        self.stop(limit)
