"""How long jobs wait for each other: the M/M/c queue.

Owns Erlang's C formula and what follows from it. Jobs are taken to come independently and to have exponentially
distributed lengths; CI jobs come in bursts and are more alike than that, and the two errors pull in opposite
directions. How long a runner takes to be there at all is `checks.queue_time`.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

BUSY_HOURS_A_MONTH = 220
"""Into which a month's jobs are taken to fall: 22 working days of 10 hours."""


_MANY = 10_000
"""Runners beyond which the line is as good as ended once it ends at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Jobs that come, and runners that serve them."""

    arrivals_per_hour: float
    minutes: float
    """How long a job holds its runner."""
    runners: int

    @property
    def load(self) -> float:
        """Runners that are busy on average, were there enough of them."""
        return self.arrivals_per_hour * self.minutes / 60

    @property
    def stable(self) -> bool:
        """Whether the line comes to an end at all."""
        return self.load < self.runners

    @property
    def waits(self) -> float:
        """The probability that a job finds every runner busy."""
        return erlang_c(self.runners, self.load)

    @property
    def mean_wait_minutes(self) -> float:
        """How long a job waits on average, those that do not wait counted as well."""
        return self.waits * self.minutes / (self.runners - self.load) if self.stable else math.inf

    @property
    def p95_wait_minutes(self) -> float:
        """How long nineteen jobs of twenty wait at most."""
        if not self.stable:
            return math.inf
        return max(0.0, math.log(self.waits / 0.05) * self.minutes / (self.runners - self.load)) if self.waits else 0.0


def erlang_c(servers: int, load: float) -> float:
    """The probability of waiting with that many servers and that load in Erlang; certain where the line grows."""
    if load <= 0:
        return 0.0
    if load >= servers:
        return 1.0
    # Erlang's B by its recursion, which neither overflows nor cancels, as factorials and powers would.
    blocked = 1.0
    for number in range(1, servers + 1):
        blocked = load * blocked / (number + load * blocked)
    return blocked / (1 - load / servers * (1 - blocked))


def of_month(jobs: int, minutes: float, runners: int) -> Line:
    """The line of a runner that is asked for so many jobs in a month."""
    return Line(arrivals_per_hour=jobs / BUSY_HOURS_A_MONTH, minutes=minutes, runners=runners)


def enough(jobs: int, minutes: float, target_minutes: float | None) -> int:
    """The fewest runners with which the line comes to an end, and nineteen jobs of twenty wait no longer than that."""
    least = int(of_month(jobs, minutes, 1).load) + 1
    if target_minutes is None or least > _MANY:
        return least
    return next(
        runners
        for runners in itertools.count(least)
        if of_month(jobs, minutes, runners).p95_wait_minutes <= target_minutes
    )
