"""A cluster in simulated time: Jobs, an autoscaler, nodes, the kubelet, and faults that a test chooses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from components.kubernetes.gpus.smoke_job import LABEL, NAMESPACE
from ops.doctor.world.source import Unanswered
from ops.smoke.run import EVENTS, JOBS, NODES, PODS

START = datetime(2026, 11, 20, 10, 0, 0, tzinfo=UTC)


@dataclass
class Cluster:
    """The API and the controllers. Every call reads the time, and the objects are derived from it."""

    faults: frozenset[str] = frozenset()
    """`never-schedules`, `too-large`, `no-events`, `pull`, `driver`, `node-lost`, `not-ready`, `no-gpu`, `no-namespace`,
    `no-capacity`, `undeletable`, `hangs`."""
    warm: bool = False
    """Whether a node with a free GPU already runs."""
    down: tuple[int, int] = (0, 0)
    """Seconds from the start between which the API fails."""
    interrupt_at: int | None = None
    """Seconds from the start at which Ctrl-C is pressed."""
    time: datetime = START
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    born: dict[str, datetime] = field(default_factory=dict[str, datetime])
    deleted: list[str] = field(default_factory=list[str])

    # The clock

    def now(self) -> datetime:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)
        if self.interrupt_at is not None and self.time >= START + timedelta(seconds=self.interrupt_at):
            raise KeyboardInterrupt

    # The API

    def ask(self, call: str, /, **arguments: Any) -> Any:
        self._answers()
        if call == f"/api/v1/namespaces/{NAMESPACE}":
            return None if "no-namespace" in self.faults else {"kind": "Namespace"}
        lists = {JOBS: self._jobs, PODS: self._pods, EVENTS: self._events, NODES: self._nodes}
        if call in lists:
            return {"items": lists[call]()}
        assert call.endswith("/log"), call
        failed = "failed: nvidia-smi failed: Driver/library version mismatch"
        return f"{failed}\n" if "driver" in self.faults else "nvidia-smi: 0, Tesla T4\npassed: 1 GPUs\n"

    def create(self, path: str, body: Mapping[str, Any]) -> None:
        self._answers()
        assert path == JOBS
        name = body["metadata"]["name"]
        self.jobs[name], self.born[name] = dict(body), self.time

    def delete(self, path: str) -> None:
        if "undeletable" in self.faults:
            raise Unanswered("the cluster answered DELETE with 500")
        self.deleted.append(path.rpartition("/")[2])

    def _answers(self) -> None:
        if self.down[0] < self._age(START) < self.down[1]:
            raise Unanswered("the cluster answered with 500 (etcdserver: request timed out)")

    # The controllers, in seconds after the Job: 2 pod, 10 scale-up, 60 node, 90 ready, 100 GPU, 105 scheduled,
    # 200 image, 205 start, 230 end. A warm node skips the first 100.

    def _age(self, since: datetime) -> float:
        return (self.time - since).total_seconds()

    def _at(self, name: str, seconds: int) -> str | None:
        """Return the time of an event of a Job's pod if it has happened."""
        skipped = 95 if self.warm and seconds > 2 else 0
        at = self.born[name] + timedelta(seconds=max(2, seconds - skipped))
        return at.isoformat().replace("+00:00", "Z") if at <= self.time else None

    def _starts(self) -> bool:
        return not self.faults & {"never-schedules", "too-large", "no-events", "no-capacity"}

    def _jobs(self) -> list[dict[str, Any]]:
        found = []
        for name, job in self.jobs.items():
            conditions = []
            if self._runs() and self._at(name, 232):
                bad = "driver" in self.faults
                conditions = [{"type": "Failed" if bad else "Complete", "status": "True", "reason": "Done"}]
            found.append({"metadata": job["metadata"], "status": {"conditions": conditions}})
        return found

    def _runs(self) -> bool:
        return self._starts() and not self.faults & {"pull", "node-lost", "not-ready", "no-gpu", "hangs"}

    def _lost(self, name: str) -> bool:
        return "node-lost" in self.faults and self._at(name, 150) is not None

    def _pods(self) -> list[dict[str, Any]]:
        found = []
        for name, job in self.jobs.items():
            if not (created := self._at(name, 2)):
                continue
            status: dict[str, Any] = {"conditions": []}
            ready = self._starts() and not self.faults & {"not-ready", "no-gpu"}
            if ready and (at := self._at(name, 105)):
                status["conditions"] = [{"type": "PodScheduled", "status": "True", "lastTransitionTime": at}]
                status["containerStatuses"] = [{"state": self._state(name)}]
            labels = {"batch.kubernetes.io/job-name": name, **job["metadata"]["labels"]}
            meta = {"name": f"{name}-a", "uid": f"{name}-a", "creationTimestamp": created, "labels": labels}
            spec = {"nodeName": self._node(name)} if status.get("containerStatuses") else {}
            found.append({"metadata": meta, "spec": spec, "status": status})
        return found

    def _state(self, name: str) -> dict[str, Any]:
        if "pull" in self.faults:
            return {"waiting": {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "torch:1"'}}
        if not (started := self._at(name, 205)):
            return {"waiting": {"reason": "ContainerCreating"}}
        if (finished := self._at(name, 230)) and self._runs():
            code = 10 if "driver" in self.faults else 0
            message = "failed: nvidia-smi failed: Driver/library version mismatch\n" if code else ""
            ended = {"startedAt": started, "finishedAt": finished, "exitCode": code, "message": message}
            return {"terminated": ended}
        return {"running": {"startedAt": started}}

    def _node(self, name: str) -> str:
        return f"ip-{self.jobs[name]['metadata']['labels'][LABEL]}"

    def _events(self) -> list[dict[str, Any]]:
        found = []
        for name in self.jobs:
            rows = [
                (5, "FailedScheduling", "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.", not self.warm),
                (10, "NotTriggerScaleUp", "1 max node group size reached", "never-schedules" in self.faults),
                (10, "NotTriggerScaleUp", "1 Insufficient memory", "too-large" in self.faults),
                (
                    10,
                    "TriggeredScaleUp",
                    "pod triggered scale-up: [{eks-t4 0->1 (max: 5)}]",
                    not self.warm and (self._starts() or "no-capacity" in self.faults),
                ),
                (200, "Pulled", "Successfully pulled image", self._runs() or "hangs" in self.faults),
            ]
            for seconds, reason, message, happens in rows:
                if happens and "no-events" not in self.faults and (at := self._at(name, seconds)):
                    involved = {"uid": f"{name}-a"}
                    found.append(
                        {"involvedObject": involved, "reason": reason, "message": message, "firstTimestamp": at}
                    )
        return found

    def _nodes(self) -> list[dict[str, Any]]:
        found = []
        for name in self.jobs:
            created = "2026-11-20T09:00:00Z" if self.warm else self._at(name, 60)
            if not self._starts() or not created or self._lost(name):
                continue
            status: dict[str, Any] = {"conditions": [], "allocatable": {}}
            if (ready := self._at(name, 90)) and "not-ready" not in self.faults:
                status["conditions"] = [{"type": "Ready", "status": "True", "lastTransitionTime": ready}]
                if self._at(name, 100) and "no-gpu" not in self.faults:
                    status["allocatable"] = {"nvidia.com/gpu": "1"}
            pool = self.jobs[name]["metadata"]["labels"][LABEL]
            meta = {"name": self._node(name), "creationTimestamp": created, "labels": {"gpu-ci/pool": pool}}
            found.append({"metadata": meta, "status": status})
        return found
