"""What must hold inside a runner: how long its jobs take, and how long they may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from config.faults import Fault
from config.stated import inner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from config.stated import Stated


def jobs_end_before_their_timeout(stated: Stated) -> Iterator[Fault]:
    """A job that is stated to take longer than it may is one that never ends well."""
    for name, runner in stated.entries("runners"):
        path, most, workload = f"runners.{name}.workload", runner.get("timeout-minutes"), inner(runner, "workload")
        for key in ("minutes", "p95-minutes"):
            takes = workload.get(key)
            if takes is not None and most is not None and takes > most:
                wrong = f"{takes} is over timeout-minutes {most}, at which such a job is ended"
                yield Fault(f"{path}.{key}", wrong, f"write at most {most}, or raise timeout-minutes")
                break


def the_longest_jobs_are_longer_than_the_typical_one(stated: Stated) -> Iterator[Fault]:
    """The longest twentieth of jobs cannot be shorter than a typical job."""
    for name, runner in stated.entries("runners"):
        workload = inner(runner, "workload")
        minutes, longest = workload.get("minutes"), workload.get("p95-minutes")
        if minutes is not None and longest is not None and longest < minutes:
            yield Fault(
                f"runners.{name}.workload.p95-minutes",
                f"{longest} is under minutes {minutes}, and the longest jobs are no shorter than a typical one",
                f"write at least {minutes}, or lower minutes",
            )


RUNNER_RULES: tuple[Callable[[Stated], Iterator[Fault]], ...] = (
    jobs_end_before_their_timeout,
    the_longest_jobs_are_longer_than_the_typical_one,
)
