"""A day in a stack's life, played event by event: jobs come, machines are asked for, refused and taken away.

Owns the play; it uses the same priorities that the autoscaler is given, so that it tries the plan as it will be
carried out, and no formula, so that it can contradict `gpu.jobs`. What it is played with is drawn once from a seed:
the same days can be replayed with any setup. Simplified: a machine serves one attempt at one job and then goes.
"""

from __future__ import annotations

import heapq
import math
import random
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu.kubernetes.priority_expander import best

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpu.cost.jobs import Length

_LIVES = 60
"""Spot machines that a job may lose before one is left to it, so that every play comes to an end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What happens whatever the setup, all in minutes."""

    arrivals: tuple[float, ...]
    lengths: tuple[float, ...]
    survivals: tuple[tuple[float, ...], ...]
    """For each job, how long its first, second … spot machine would live; the last one outlives every job."""
    droughts: tuple[tuple[float, float], ...]
    """When no spot machine is to be had, in order."""


def draw(
    seed: int, jobs: int, *, per_hour: float, length: Length, rate: float, shortage: float, drought_minutes: float
) -> Trace:
    """A trace: arrivals, lengths and lives at random, and droughts that fill `shortage` of the time."""
    rng = random.Random(seed)  # noqa: S311  # dice, not secrets
    arrivals: list[float] = []
    now = 0.0
    for _ in range(jobs):
        now += rng.expovariate(per_hour / 60)
        arrivals.append(now)
    points = length.points()
    droughts: list[tuple[float, float]] = []
    at = 0.0
    while shortage and at < now:
        at += rng.expovariate(shortage / (1 - shortage) / drought_minutes)
        end = at + rng.expovariate(1 / drought_minutes)
        droughts.append((at, end))
        at = end
    return Trace(
        arrivals=tuple(arrivals),
        lengths=tuple(rng.choice(points) for _ in range(jobs)),
        survivals=tuple(
            (*(rng.expovariate(rate / 60) if rate else math.inf for _ in range(_LIVES)), math.inf) for _ in range(jobs)
        ),
        droughts=tuple(droughts),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Machines of one kind."""

    asg: str
    """The name of its auto-scaling group."""
    spot: bool
    most: int
    """Machines at once."""
    hour: float
    """What an hour of one costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What the stack has, and how it behaves."""

    pools: tuple[Pool, ...]
    priorities: Mapping[int, Sequence[str]]
    """As they are written for the autoscaler."""
    attempts: int | None = None
    """After how many lost attempts a job asks for an on-demand machine; none if it never does."""
    start_minutes: float = 3.0
    retry_minutes: float = 10.0
    refusal_minutes: float = 2.0
    """Until the autoscaler sees that a machine was refused."""
    backoff_minutes: float = 5.0
    """How long a group is left alone after a refusal, doubling with each further one."""
    most_backoff_minutes: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of every job."""

    costs: tuple[float, ...]
    minutes: tuple[float, ...]
    """From arrival to the end of the attempt that survived."""

    @property
    def mean_cost(self) -> float:
        """Dollars for a finished job."""
        return math.fsum(self.costs) / len(self.costs)

    @property
    def p95_minutes(self) -> float:
        """The time within which nineteen of twenty jobs were finished."""
        return sorted(self.minutes)[math.ceil(0.95 * len(self.minutes)) - 1]


class _Play:
    """One play: who waits, who runs, and what comes next."""

    def __init__(self, trace: Trace, setup: Setup) -> None:
        jobs, pools = len(trace.arrivals), len(setup.pools)
        self.trace = trace
        self.setup = setup
        self.events: list[tuple[float, int, str, int, int]] = []
        """When, a tie-breaker, what, which pool and which job."""
        self.steps = 0
        self.queue: deque[int] = deque()
        self.busy = [0] * pools
        self.closed_until = [0.0] * pools
        self.backoff = [setup.backoff_minutes] * pools
        self.lost = [0] * jobs
        self.costs = [0.0] * jobs
        self.finished = [0.0] * jobs
        self.tried: dict[tuple[int, ...], int | None] = {}
        """Pools that could be enlarged, and the one of them that the autoscaler would take."""
        self.droughts_from = [start for start, _ in trace.droughts]

    def push(self, when: float, what: str, pool: int = -1, job: int = -1) -> None:
        self.steps += 1
        heapq.heappush(self.events, (when, self.steps, what, pool, job))

    def run(self) -> None:
        for job, arrival in enumerate(self.trace.arrivals):
            self.push(arrival, "queue", job=job)
        while self.events:
            now, _, what, pool, job = heapq.heappop(self.events)
            if what in {"free", "refused"}:
                self.busy[pool] -= 1
            if what in {"queue", "refused"}:
                # A refused attempt was first in the line, and stays so.
                (self.queue.append if what == "queue" else self.queue.appendleft)(job)
            if what == "refused":
                self.closed_until[pool] = now + self.backoff[pool]
                self.push(self.closed_until[pool], "open")
                self.backoff[pool] = min(2 * self.backoff[pool], self.setup.most_backoff_minutes)
            self.serve(now)

    def serve(self, now: float) -> None:
        """Give machines to waiting jobs, in order, each what it may have and what is tried first."""
        if not self.queue:
            return
        anything, steady = self.first(now, spot=True), self.first(now, spot=False)
        passed: list[int] = []
        while self.queue and anything is not None:
            job = self.queue.popleft()
            pool = steady if self.settled(job) else anything
            if pool is None:
                passed.append(job)
                continue
            self.launch(now, pool, job)
            anything, steady = self.first(now, spot=True), self.first(now, spot=False)
        self.queue.extendleft(reversed(passed))

    def settled(self, job: int) -> bool:
        """Whether a job was lost so often that it asks for a machine that stays."""
        return self.setup.attempts is not None and self.lost[job] >= self.setup.attempts

    def first(self, now: float, *, spot: bool) -> int | None:
        """The pool that the autoscaler would enlarge now, spot ones among them or not."""
        able = tuple(
            index
            for index, pool in enumerate(self.setup.pools)
            if self.busy[index] < pool.most and now >= self.closed_until[index] and (spot or not pool.spot)
        )
        if able not in self.tried:
            asgs = {self.setup.pools[index].asg: index for index in able}
            self.tried[able] = next((asgs[name] for name in best(self.setup.priorities, tuple(asgs))), None)
        return self.tried[able]

    def launch(self, now: float, index: int, job: int) -> None:
        pool = self.setup.pools[index]
        self.busy[index] += 1
        if pool.spot and self.dry(now):
            self.push(now + self.setup.refusal_minutes, "refused", index, job)
            return
        self.backoff[index] = self.setup.backoff_minutes
        lives = self.trace.survivals[job]
        life = lives[self.lost[job]] if pool.spot else math.inf
        length = self.trace.lengths[job]
        end = now + self.setup.start_minutes + min(life, length)
        self.costs[job] += (end - now) / 60 * pool.hour
        self.push(end, "free", index)
        if life < length:
            self.lost[job] += 1
            self.push(end + self.setup.retry_minutes, "queue", job=job)
        else:
            self.finished[job] = end

    def dry(self, now: float) -> bool:
        at = bisect_right(self.droughts_from, now) - 1
        return at >= 0 and now < self.trace.droughts[at][1]


def replay(trace: Trace, setup: Setup) -> Result:
    """Play the trace with that setup until every job is finished."""
    play = _Play(trace, setup)
    play.run()
    return Result(
        costs=tuple(play.costs),
        minutes=tuple(end - start for end, start in zip(play.finished, trace.arrivals, strict=True)),
    )
