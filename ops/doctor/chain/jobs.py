"""Check the jobs that wait at GitHub: jobs that nothing serves, and jobs that wait longer than they should.

GitHub keeps a job in the queue for a day, and `timeout-minutes` does not count that time. A run with a finished and a
queued job can have any of four states, so the jobs of each of them count.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from ops.doctor.finding import broken, doubtful, works
from ops.doctor.questions.repositories import repositories
from ops.kit.served import served, serves, unserved

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from gpu_ci.stack_file.sections.settings import Settings
    from ops.doctor.world.world import World
    from ops.kit.served import Served

CHECK: Final = "queued-jobs"
NEEDS: Final = ("github-token",)
STATES: Final = ("queued", "in_progress", "waiting", "pending")
_RUNS: Final = 30
"""The largest number of runs whose jobs are read; each costs a request."""
_USUAL: Final = 20
"""Minutes in which a runner starts, where the stack file states no `queue-target-minutes`."""


def applies(settings: Settings) -> bool:
    """Return whether the stack runs jobs."""
    return bool(settings.runners)


def check(world: World) -> Iterator[Verdict]:
    """Yield a verdict for each job that waits too long, or that nothing serves."""
    runners = served(world.settings)
    for repository in repositories(world):
        waiting = list(_waiting(world, repository))
        faults = [verdict for job in waiting for verdict in _judged(world, repository, job, runners)]
        yield from faults
        if not faults:
            yield works(CHECK, repository, f"{len(waiting)} jobs wait, none longer than it should")


def _waiting(world: World, repository: str) -> Iterator[dict[str, Any]]:
    """Yield the queued jobs of a repository that ask for a self-hosted runner."""
    runs: dict[int, None] = {}
    for state in STATES:
        answer = world.github.ask(f"/repos/{repository}/actions/runs", status=state)
        runs |= dict.fromkeys(run["id"] for run in (answer or {}).get("workflow_runs", []))
    for run in list(runs)[:_RUNS]:
        answer = world.github.ask(f"/repos/{repository}/actions/runs/{run}/jobs", filter="latest")
        for job in (answer or {}).get("jobs", []):
            if job["status"] == "queued" and not job.get("runner_id") and job["labels"]:
                yield job


def _judged(world: World, repository: str, job: dict[str, Any], runners: tuple[Served, ...]) -> Iterator[Verdict]:
    labels = [str(label) for label in job["labels"]]
    minutes = int((world.now - datetime.fromisoformat(job["created_at"])).total_seconds() // 60)
    seen = f'"{job["name"]}" ({job["html_url"]}) waits for {minutes} minutes with runs-on {", ".join(labels)}'
    mine = [one for one in runners if serves(one, labels)]
    if not mine:
        faults = list(unserved(repository, labels, runners, frozenset()))
        if faults:  # none for a machine of GitHub
            yield broken(
                CHECK,
                repository,
                seen=seen,
                means=f"{faults[0].reason}; GitHub fails the job after a day",
                fix=f"{faults[0].fix.partition('. If it is')[0]}; then cancel the run",
            )
        return
    target = min(world.settings.runners[one.runner].queue_target_minutes or _USUAL for one in mine)
    if minutes > target:
        yield doubtful(
            CHECK,
            repository,
            seen=seen,
            means=f"a runner of this stack serves it, and should have started within {target} minutes",
            fix="read the other results: the first broken link keeps the runner from starting",
        )
