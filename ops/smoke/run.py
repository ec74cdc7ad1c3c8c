"""Run smoke tests on a live cluster, follow them, and delete their Jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from components.aws.nodes.gpu_node import POOL_LABEL
from components.kubernetes.gpus.smoke_job import LABEL, NAMESPACE, SmokeJob, job_name, job_spec
from ops.doctor.world.source import Unanswered
from ops.smoke.cluster import Clock, Kubernetes
from ops.smoke.reasons import PULLS, Reason, reason
from ops.smoke.timeline import Snapshot, Step, Timeline, container_state

JOBS: Final = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
PODS: Final = f"/api/v1/namespaces/{NAMESPACE}/pods"
EVENTS: Final = f"/api/v1/namespaces/{NAMESPACE}/events"
NODES: Final = "/api/v1/nodes"
RUN: Final = "gpu-ci/smoke-run"
"""The label of the objects of one run."""

POLL_SECONDS: Final = 5
KEPT_SECONDS: Final = 600
"""Seconds after which Kubernetes deletes a Job that this command could not delete."""
PATIENCE: Final = timedelta(minutes=2)
"""The time for which the API may fail, and an image pull."""
SCALE_PATIENCE: Final = timedelta(minutes=10)
"""The time for which the autoscaler may refuse: it caches templates of pools for six minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The test of one pool."""

    pool: str
    passed: bool
    began: datetime
    times: dict[Step, datetime]
    output: tuple[str, ...]
    """The lines of the test."""
    reason: Reason | None
    """The reason of a failure."""
    lost: tuple[str, ...] = ()
    """Nodes that disappeared meanwhile."""

    def to_data(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "pool": self.pool,
            "passed": self.passed,
            "began": self.began.isoformat(),
            "seconds": {str(step): self.seconds(step) for step in Step if step in self.times},
            "output": list(self.output),
            "lost-nodes": list(self.lost),
            "problem": self.reason.problem if self.reason else "",
            "fix": self.reason.fix if self.reason else "",
            "runbook": self.reason.runbook if self.reason else "",
        }

    def seconds(self, step: Step) -> int:
        """Return the seconds from the start of the test to a step."""
        return max(0, round((self.times[step] - self.began).total_seconds()))


class Missing(Exception):
    """The cluster has no namespace for smoke tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Smoke:
    """One run of the tests of some pools, all at the same time."""

    cluster: Kubernetes
    clock: Clock
    image: str
    run: str
    """A short name of this run, part of the names of its Jobs."""
    say: Callable[[str], None]
    """Shows progress."""

    def results(self, jobs: Sequence[SmokeJob]) -> list[Result]:
        """Create the Jobs, follow them to their end, and delete them, also after Ctrl-C.

        Raises:
            Missing: the namespace does not exist.
            Unanswered: the cluster does not answer.

        """
        if self.cluster.ask(f"/api/v1/namespaces/{NAMESPACE}") is None:
            raise Missing
        began = self.clock.now()
        lines = [Timeline(pool=job.pool, job=f"{job_name(job.pool)}-{self.run}", began=began) for job in jobs]
        try:
            for job, line in zip(jobs, lines, strict=True):
                self.cluster.create(JOBS, self._manifest(job, line.job))
                self.say(f"{job.pool}: Job {line.job} created")
            minutes = max(job.timeout_minutes for job in jobs)
            return self._followed(lines, began + timedelta(minutes=minutes))
        finally:
            self._delete(lines)

    def _manifest(self, job: SmokeJob, name: str) -> dict[str, Any]:
        spec = job_spec(job, self.image)
        labels = {LABEL: job.pool, RUN: self.run}
        spec["ttlSecondsAfterFinished"] = KEPT_SECONDS
        spec["template"]["metadata"]["labels"] = dict(labels)
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": labels}, "spec": spec}

    def _followed(self, lines: Sequence[Timeline], deadline: datetime) -> list[Result]:
        """Poll until every test has a result."""
        done: dict[str, Result] = {}
        answered = self.clock.now()
        since: dict[str, datetime] = {}
        while len(done) < len(lines):
            try:
                seen = self._snapshot()
            except Unanswered as fault:
                if self.clock.now() - answered > PATIENCE:
                    raise
                self.say(f"the cluster does not answer, trying again: {fault.reason}")
                self.clock.sleep(POLL_SECONDS)
                continue
            answered = seen.at
            for line in lines:
                if line.pool in done:
                    continue
                for step in line.observe(seen):
                    self.say(f"{line.pool}: {step} after {round((line.times[step] - line.began).total_seconds())} s")
                hopeless = _hopeless(line, since, seen.at)
                if line.passed is not None or hopeless or seen.at >= deadline:
                    done[line.pool] = self._result(line)
            if len(done) < len(lines):
                self.clock.sleep(POLL_SECONDS)
        return [done[line.pool] for line in lines]

    def _snapshot(self) -> Snapshot:
        selector = f"{RUN}={self.run}"
        jobs = self._list(JOBS, selector)
        pods = self._list(PODS, selector)
        events = self._list(EVENTS)
        nodes = self._list(NODES, POOL_LABEL)
        return Snapshot(at=self.clock.now(), jobs=jobs, pods=pods, events=events, nodes=nodes)

    def _list(self, path: str, selector: str = "") -> list[dict[str, Any]]:
        answer = self.cluster.ask(path, **({"labelSelector": selector} if selector else {}))
        found: list[dict[str, Any]] = (answer or {}).get("items") or []
        return found

    def _result(self, line: Timeline) -> Result:
        passed = bool(line.passed)
        return Result(
            pool=line.pool,
            passed=passed,
            began=line.began,
            times=dict(line.times),
            output=self._output(line),
            reason=None if passed else reason(line),
            lost=tuple(line.lost),
        )

    def _output(self, line: Timeline) -> tuple[str, ...]:
        """Return the log of the test; nothing if there is none."""
        if line.pod is None or Step.STARTED not in line.times:
            return ()
        try:
            text = self.cluster.ask(f"{PODS}/{line.pod['metadata']['name']}/log", tailLines=50)
        except Unanswered:
            return ()
        return tuple(str(text or "").splitlines())

    def _delete(self, lines: Sequence[Timeline]) -> None:
        for line in lines:
            try:
                self.cluster.delete(f"{JOBS}/{line.job}")
            except Unanswered as fault:
                command = f"kubectl --namespace {NAMESPACE} delete job {line.job}"
                self.say(f"{line.pool}: the Job could not be deleted ({fault.reason}): {command}")


def _hopeless(line: Timeline, since: dict[str, datetime], now: datetime) -> bool:
    """Return whether waiting cannot help: an image that is not pulled, or a pool that does not grow."""
    waiting = container_state(line.pod).get("waiting", {}).get("reason") if line.pod is not None else None
    refused = (
        line.node is None
        and "NotTriggerScaleUp" in line.events
        and not {Step.TRIGGERED, Step.SCHEDULED} & line.times.keys()
    )
    for key, active, patience in (
        (f"{line.pool} pull", waiting in PULLS, PATIENCE),
        (f"{line.pool} scale", refused, SCALE_PATIENCE),
    ):
        if not active:
            since.pop(key, None)
        elif now - since.setdefault(key, now) >= patience:
            return True
    return False
