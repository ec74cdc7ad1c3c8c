"""The length of jobs, and the machine hours that a finished job takes when the cloud may take its machine away.

A CI job has no checkpoint, so an interrupted job starts again. With independent interruptions at a rate of `rate` per
hour, an attempt at a job of L hours survives with probability exp(-rate L). Until one attempt survives, there are
exp(rate L) attempts, which run (exp(rate L) - 1) / rate hours together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

START_MINUTES: Final = 3.0
"""Minutes of a new machine that are paid for before a job runs on it. An estimate."""
REPLACEMENT_MINUTES: Final = 60
"""Minutes for which another machine runs after a pod is lost: the Actions Runner Controller starts a new pod at once,
which gets no job, and ends when GitHub gives the lost job up. An estimate on the high side: it can take an hour
(actions-runner-controller 4588)."""
BUSY_HOURS_A_MONTH: Final = 220
"""The working hours in which jobs arrive: 22 days of 10 hours."""
_MOST = 7.0
"""The largest `rate x hours` that is computed: beyond it, less than one attempt in a thousand survives."""
_Z95 = NormalDist().inv_cdf(0.95)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLoad:
    """The jobs of one runner."""

    path: str
    """The runner's path in the stack file, for example `runners.gpu-t4`."""
    group: str
    """The path of the machine group on which they run first."""
    jobs_per_month: int = 0
    mean_minutes: float = 0.0
    idle: int = 0
    """Idle runners that keep a machine running."""
    idle_key: str = ""
    """The path of the number of idle runners."""
    gpu: bool = True
    """False where the jobs run on machines without a GPU."""
    has_target: bool = False
    """True where `queue-target-minutes` is stated, which is the reason to keep machines."""

    @property
    def minutes(self) -> float:
        """Job minutes in a month."""
        return self.jobs_per_month * self.mean_minutes


def mean_minutes(minutes: float, p95: float | None, limit: float) -> float:
    """Return the mean length of jobs in minutes, at most their timeout.

    `minutes` is the median. Where `p95` is given, lengths are log-normal through both percentiles.
    """
    spread = math.log(p95 / minutes) / _Z95 if p95 else 0.0
    return min(minutes * math.exp(spread**2 / 2), limit)


def loss(hours: float, rate: float) -> float:
    """Return the probability that an attempt of that length is interrupted."""
    return -math.expm1(-rate * hours)


def hours_with_loss(probability: float, rate: float) -> float:
    """Return the length of a job that is interrupted with that probability."""
    return -math.log1p(-probability) / rate


def machine_hours(minutes: float, rate: float, *, after_loss: float = 0.0) -> float:
    """Return the paid hours of a job until one attempt survives, with the start of a machine for each attempt.

    `after_loss` is the minutes for which a useless machine runs after each lost attempt.
    """
    met = min(rate * minutes / 60, _MOST)
    run = minutes / 60 * (math.expm1(met) / met if met else 1.0)
    return run + START_MINUTES / 60 * math.exp(met) + after_loss / 60 * math.expm1(met)
