"""The jobs of a repository that ran on the runners of a stack, and their logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gpu_ci.back_ends.registry import BACK_ENDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import timedelta

    from ops.doctor.world.world import World

_RUNS: Final = 10
"""The largest number of runs whose jobs are read; each costs a request."""


def recent(world: World, repository: str, result: str, since: timedelta) -> Iterator[dict[str, Any]]:
    """Yield the jobs with a result (`success`, `failure`) that ran on a runner of the stack, the newest first."""
    labels = {
        BACK_ENDS[runner.back_end].runs_on(name, runner).label.casefold()
        for name, runner in world.settings.runners.items()
    }
    created = f">={world.now - since:%Y-%m-%d}"
    answer = world.github.ask(f"/repos/{repository}/actions/runs", status=result, created=created)
    for run in (answer or {}).get("workflow_runs", [])[:_RUNS]:
        jobs = world.github.ask(f"/repos/{repository}/actions/runs/{run['id']}/jobs", filter="latest")
        for job in (jobs or {}).get("jobs", []):
            asked = {str(label).partition("--")[0].casefold() for label in job["labels"]}
            if job["conclusion"] == result and asked & labels:
                yield dict(job)


def log_of(world: World, repository: str, job: dict[str, Any]) -> str:
    """Return the log of a job; empty after GitHub has deleted it."""
    return str(world.github.ask(f"/repos/{repository}/actions/jobs/{job['id']}/logs") or "")
