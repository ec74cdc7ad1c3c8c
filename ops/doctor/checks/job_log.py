"""Look for known messages in the log of a job: the given file, or the last failed GPU job of each repository."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from back_ends.registry import BACK_ENDS
from ops.doctor.messages import found_in
from ops.doctor.repositories import repositories
from ops.doctor.verdict import broken, doubtful, works

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from config.settings import Settings
    from gpu.verdict import Verdict
    from ops.doctor.messages import Found
    from ops.doctor.world import World

CHECK: Final = "job-log"
NEEDS: Final = ()
RECENT: Final = timedelta(days=2)
_RUNS: Final = 10
"""The largest number of failed runs whose jobs are read; each costs a request."""


def applies(settings: Settings) -> bool:
    """Return whether the stack runs jobs."""
    return bool(settings.runners)


def check(world: World) -> Iterator[Verdict]:
    """Yield a fault for each known message, with its meaning and its fix."""
    given = world.log.ask("read")
    if given is not None:
        yield from _verdicts(str(given["name"]), str(given["text"]), broken)
        return
    for repository in repositories(world):
        job = _failed(world, repository)
        if job is None:
            yield works(CHECK, repository, f"no GPU job failed in the last {RECENT.days} days")
            continue
        log = world.github.ask(f"/repos/{repository}/actions/jobs/{job['id']}/logs")
        yield from _verdicts(f"{repository}: {job['name']} ({job['html_url']})", str(log or ""), doubtful)


def _verdicts(name: str, log: str, make: Callable[..., Verdict]) -> Iterator[Verdict]:
    """Yield a verdict for each message. One in a log of the past is only a warning: it may be fixed by now."""
    found = found_in(log)
    for one in found:
        yield _verdict(name, one, make)
    if not found:
        yield doubtful(
            CHECK,
            name,
            seen="the log has none of the messages that gpu-ci knows",
            means="the failure is probably one of the job itself",
            fix="read the log from its first error",
        )


def _verdict(name: str, one: Found, make: Callable[..., Verdict]) -> Verdict:
    times = f", {one.times} times" if one.times > 1 else ""
    return make(
        CHECK,
        name,
        seen=f'line {one.number}{times}: "{one.line}"',
        means=one.message.meaning,
        fix=f"{one.message.fix} (docs/runbook.md#{one.message.name})",
    )


def _failed(world: World, repository: str) -> dict[str, Any] | None:
    """Return the newest failed job that ran on a runner of the stack."""
    labels = {
        BACK_ENDS[runner.back_end].runs_on(name, runner).label.casefold()
        for name, runner in world.settings.runners.items()
    }
    since = f">={world.now - RECENT:%Y-%m-%d}"
    answer = world.github.ask(f"/repos/{repository}/actions/runs", status="failure", created=since)
    for run in (answer or {}).get("workflow_runs", [])[:_RUNS]:
        jobs = world.github.ask(f"/repos/{repository}/actions/runs/{run['id']}/jobs", filter="latest")
        for job in (jobs or {}).get("jobs", []):
            asked = {str(label).partition("--")[0].casefold() for label in job["labels"]}
            if job["conclusion"] == "failure" and asked & labels:
                return dict(job)
    return None
