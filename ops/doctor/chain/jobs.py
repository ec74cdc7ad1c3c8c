"""The jobs at GitHub: those that wait, the last one that passed, and the last one that failed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from gpu_ci.back_ends.registry import BACK_ENDS
from ops.doctor.chain import sections
from ops.doctor.check import Chapter
from ops.doctor.finding import Finding, broken, doubtful, works
from ops.doctor.log.messages import Found, found_in
from ops.doctor.questions.repositories import repositories
from ops.doctor.world.world import World
from ops.kit.served import Served, served, serves, unserved

CHAPTER: Final = Chapter()

STATES: Final = ("queued", "in_progress", "waiting", "pending")
_RUNS_THAT_WAIT: Final = 30
"""The largest number of runs whose jobs are read; each costs a request."""
_USUAL: Final = 20
"""Minutes in which a runner starts, where the stack file states no `queue-target-minutes`."""


@CHAPTER.check(needs=("github-token",), applies=sections.runners)
def queued_jobs(world: World) -> Iterator[Finding]:
    """Check the jobs that wait at GitHub: jobs that nothing serves, and jobs that wait longer than they should.

    GitHub keeps a job in the queue for a day, and `timeout-minutes` does not count that time. A run with a finished and
    a queued job can have any of four states, so the jobs of each of them count.
    """
    runners = served(world.settings)
    for repository in repositories(world):
        waiting = list(_waiting(world, repository))
        faults = [finding for job in waiting for finding in _judged(world, repository, job, runners)]
        yield from faults
        if not faults:
            yield works(repository, f"{len(waiting)} jobs wait, none longer than it should")


def _waiting(world: World, repository: str) -> Iterator[dict[str, Any]]:
    """Yield the queued jobs of a repository that ask for a self-hosted runner."""
    runs: dict[int, None] = {}
    for state in STATES:
        answer = world.github.ask(f"/repos/{repository}/actions/runs", status=state)
        runs |= dict.fromkeys(run["id"] for run in (answer or {}).get("workflow_runs", []))
    for run in list(runs)[:_RUNS_THAT_WAIT]:
        answer = world.github.ask(f"/repos/{repository}/actions/runs/{run}/jobs", filter="latest")
        for job in (answer or {}).get("jobs", []):
            if job["status"] == "queued" and not job.get("runner_id") and job["labels"]:
                yield job


def _judged(world: World, repository: str, job: dict[str, Any], runners: tuple[Served, ...]) -> Iterator[Finding]:
    labels = [str(label) for label in job["labels"]]
    minutes = int((world.now - datetime.fromisoformat(job["created_at"])).total_seconds() // 60)
    seen = f'"{job["name"]}" ({job["html_url"]}) waits for {minutes} minutes with runs-on {", ".join(labels)}'
    mine = [one for one in runners if serves(one, labels)]
    if not mine:
        faults = list(unserved(repository, labels, runners, frozenset()))
        if faults:  # none for a machine of GitHub
            yield broken(
                repository,
                seen=seen,
                means=f"{faults[0].reason}; GitHub fails the job after a day",
                fix=f"{faults[0].fix.partition('. If it is')[0]}; then cancel the run",
            )
        return
    target = min(world.settings.runners[one.runner].queue_target_minutes or _USUAL for one in mine)
    if minutes > target:
        yield doubtful(
            repository,
            seen=seen,
            means=f"a runner of this stack serves it, and should have started within {target} minutes",
            fix="read the other results: the first broken link keeps the runner from starting",
        )


_PASSED_WITHIN: Final = timedelta(days=14)
_GPU: Final = re.compile(r"(?:Z |: |^)([\w -]+?), (\d{3}\.\d+(?:\.\d+)?), (\d+) MiB\s*$", re.MULTILINE)
"""A line that the query prints."""
_QUERY: Final = "nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader"
_CUDA: Final = "the session runs on CUDA"
"""The last line of `check_ort_cuda.py`. The list of available providers does not show that one works."""


@CHAPTER.check(needs=("github-token",), applies=sections.runners)
def gpu_jobs(world: World) -> Iterator[Finding]:
    """Check that the last GPU job that passed saw a GPU, and did not run on the CPU instead.

    Its log has the name, the driver and the memory of each GPU, as the generated workflows and the hooks of runners
    print them. ONNX Runtime falls back to the CPU without a failure, and tests that skip without CUDA pass.
    """
    for repository in repositories(world):
        job = next(_recent(world, repository, "success", _PASSED_WITHIN), None)
        if job is None:
            yield doubtful(
                repository,
                seen=f"no GPU job passed in the last {_PASSED_WITHIN.days} days",
                means="nothing shows that the runners work; jobs may be skipped by a variable or a label",
                fix="start the GPU tests by hand, and read repository-settings in this output",
            )
            continue
        yield _passed(f"{repository}: {job['name']} ({job['html_url']})", _log_of(world, repository, job))


def _passed(name: str, log: str) -> Finding:
    gpus = _GPU.findall(log)
    on_cpu = [one for one in found_in(log) if one.message.name.startswith("ort-")]
    if on_cpu:
        return doubtful(
            name,
            seen=f'the job passed, and its log has in line {on_cpu[0].number}: "{on_cpu[0].line}"',
            means=on_cpu[0].message.meaning,
            fix=f"{on_cpu[0].message.fix} (docs/runbook.md#{on_cpu[0].message.name})",
        )
    if not gpus:
        return doubtful(
            name,
            seen="the job passed, and its log shows no GPU",
            means="tests that skip without CUDA pass on the CPU, too",
            fix=f"add the step `{_QUERY}` to the job",
        )
    model, driver, memory = gpus[0]
    cuda = "; ONNX Runtime runs on CUDA" if _CUDA in log else ""
    return works(name, f"the last job that passed saw {len(gpus)} {model}, driver {driver}, {memory} MiB{cuda}")


_FAILED_WITHIN: Final = timedelta(days=2)


@CHAPTER.check(applies=sections.runners)
def job_log(world: World) -> Iterator[Finding]:
    """Look for known messages in the log of a job: the given file, or the last failed GPU job of each repository."""
    given = world.log.ask("read")
    if given is not None:
        yield from _known_messages(str(given["name"]), str(given["text"]), broken)
        return
    for repository in repositories(world):
        job = next(_recent(world, repository, "failure", _FAILED_WITHIN), None)
        if job is None:
            yield works(repository, f"no GPU job failed in the last {_FAILED_WITHIN.days} days")
            continue
        yield from _known_messages(
            f"{repository}: {job['name']} ({job['html_url']})", _log_of(world, repository, job), doubtful
        )


def _known_messages(name: str, log: str, make: Callable[..., Finding]) -> Iterator[Finding]:
    """Yield a finding for each message. One in a log of the past is only a warning: it may be fixed by now."""
    found = found_in(log)
    for one in found:
        yield _known_message(name, one, make)
    if not found:
        yield doubtful(
            name,
            seen="the log has none of the messages that gpu-ci knows",
            means="the failure is probably one of the job itself",
            fix="read the log from its first error",
        )


def _known_message(name: str, one: Found, make: Callable[..., Finding]) -> Finding:
    times = f", {one.times} times" if one.times > 1 else ""
    return make(
        name,
        seen=f'line {one.number}{times}: "{one.line}"',
        means=one.message.meaning,
        fix=f"{one.message.fix} (docs/runbook.md#{one.message.name})",
    )


_RUNS_THAT_ENDED: Final = 10
"""The largest number of runs whose jobs are read; each costs a request."""


def _recent(world: World, repository: str, result: str, since: timedelta) -> Iterator[dict[str, Any]]:
    """Yield the jobs with a result (`success`, `failure`) that ran on a runner of the stack, the newest first."""
    labels = {
        BACK_ENDS[runner.back_end].runs_on(name, runner).label.casefold()
        for name, runner in world.settings.runners.items()
    }
    created = f">={world.now - since:%Y-%m-%d}"
    answer = world.github.ask(f"/repos/{repository}/actions/runs", status=result, created=created)
    for run in (answer or {}).get("workflow_runs", [])[:_RUNS_THAT_ENDED]:
        jobs = world.github.ask(f"/repos/{repository}/actions/runs/{run['id']}/jobs", filter="latest")
        for job in (jobs or {}).get("jobs", []):
            asked = {str(label).partition("--")[0].casefold() for label in job["labels"]}
            if job["conclusion"] == result and asked & labels:
                yield dict(job)


def _log_of(world: World, repository: str, job: dict[str, Any]) -> str:
    """Return the log of a job; empty after GitHub has deleted it."""
    return str(world.github.ask(f"/repos/{repository}/actions/jobs/{job['id']}/logs") or "")
