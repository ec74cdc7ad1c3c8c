"""The steps of a smoke test, with the times that Kubernetes recorded for them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from components.aws.nodes.gpu_node import POOL_LABEL
from components.gpu_names import GPU

Object = dict[str, Any]
"""An object of Kubernetes, as the API returns it."""


class Step(StrEnum):
    """A step, in the order of a pool without nodes. A test on a running node skips those of the node."""

    CREATED = "pod created"
    TRIGGERED = "scale-up triggered"
    NODE = "node created"
    READY = "node ready"
    ALLOCATABLE = "GPU allocatable"
    SCHEDULED = "pod scheduled"
    PULLED = "image pulled"
    STARTED = "test started"
    FINISHED = "test finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The objects of the namespace and the GPU nodes at one time."""

    at: datetime
    jobs: Sequence[Object]
    pods: Sequence[Object]
    events: Sequence[Object]
    nodes: Sequence[Object]


@dataclass(slots=True, kw_only=True)
class Timeline:
    """The test of one pool."""

    pool: str
    job: str
    """The name of the Job."""
    began: datetime
    times: dict[Step, datetime] = field(default_factory=dict[Step, datetime])
    pod: Object | None = None
    """The newest pod."""
    node: str | None = None
    """The name of its node, or of the node that starts for it."""
    lost: list[str] = field(default_factory=list[str])
    """Nodes that disappeared before the test ended."""
    events: dict[str, str] = field(default_factory=dict[str, str])
    """The newest message of each reason of the pod's events."""
    passed: bool | None = None
    """The result; None while the Job runs."""

    @property
    def reached(self) -> Step | None:
        """The last step with a time."""
        return next((step for step in reversed(Step) if step in self.times), None)

    def observe(self, seen: Snapshot) -> list[Step]:
        """Add what a snapshot shows, and return the new steps."""
        known = set(self.times)
        mine = [
            pod
            for pod in seen.pods
            if pod["metadata"].get("labels", {}).get("batch.kubernetes.io/job-name") == self.job
        ]
        if mine:
            self._pod(max(mine, key=lambda pod: str(pod["metadata"]["creationTimestamp"])), seen)
        self._nodes(seen)
        for step, at in self._found(seen):
            self.times.setdefault(step, at)
        job = next((one for one in seen.jobs if one["metadata"]["name"] == self.job), None)
        for condition in (job or {}).get("status", {}).get("conditions") or []:
            if condition.get("status") == "True" and condition["type"] in {"Complete", "Failed"}:
                self.passed = condition["type"] == "Complete"
        return [step for step in Step if step in self.times and step not in known]

    def _pod(self, newest: Object, seen: Snapshot) -> None:
        """Take the newest pod. The steps of an earlier one do not count."""
        if self.pod is not None and self.pod["metadata"]["uid"] != newest["metadata"]["uid"]:
            self.times, self.events, self.node = {}, {}, None
        self.pod = newest
        uid = newest["metadata"]["uid"]
        for event in seen.events:
            if event.get("involvedObject", {}).get("uid") == uid:
                self.events[event["reason"]] = event.get("message", "")

    def _nodes(self, seen: Snapshot) -> None:
        """Find the node of the pod: its own, or the newest of the pool that appeared after the pod."""
        names = {node["metadata"]["name"] for node in seen.nodes}
        if self.node is not None and self.node not in names:
            if self.node not in self.lost and self.passed is None:
                self.lost.append(self.node)
            self.node = None
        if self.pod is None:
            return
        own = self.pod.get("spec", {}).get("nodeName")
        created = _time(self.pod["metadata"]["creationTimestamp"])
        fresh = [
            node["metadata"]["name"]
            for node in sorted(seen.nodes, key=lambda one: str(one["metadata"]["creationTimestamp"]))
            if node["metadata"].get("labels", {}).get(POOL_LABEL) == self.pool
            and _time(node["metadata"]["creationTimestamp"]) >= created
        ]
        self.node = own if own in names else self.node or next(iter(fresh), None)

    def _found(self, seen: Snapshot) -> Iterator[tuple[Step, datetime]]:
        """Yield every step that the objects show."""
        if self.pod is None:
            return
        created = _time(self.pod["metadata"]["creationTimestamp"])
        yield Step.CREATED, created
        for name, step in (("TriggeredScaleUp", Step.TRIGGERED), ("Pulled", Step.PULLED)):
            if name in self.events:
                yield step, _event_time(seen, self.pod["metadata"]["uid"], name)
        node = next((one for one in seen.nodes if one["metadata"]["name"] == self.node), None)
        if node is not None and _time(node["metadata"]["creationTimestamp"]) >= created:
            yield from _of_node(node, seen.at)
        yield from _conditions(self.pod, "PodScheduled", Step.SCHEDULED)
        state = container_state(self.pod)
        for key, inside, step in _STATES:
            if state.get(key, {}).get(inside):
                yield step, _time(state[key][inside])


_STATES: Final = (
    ("running", "startedAt", Step.STARTED),
    ("terminated", "startedAt", Step.STARTED),
    ("terminated", "finishedAt", Step.FINISHED),
)
"""State of a container, its time, and the step."""


def _of_node(node: Object, now: datetime) -> Iterator[tuple[Step, datetime]]:
    yield Step.NODE, _time(node["metadata"]["creationTimestamp"])
    yield from _conditions(node, "Ready", Step.READY)
    if int(node.get("status", {}).get("allocatable", {}).get(GPU, "0")):
        # Kubernetes records no time for it.
        yield Step.ALLOCATABLE, now


def _conditions(thing: Object, kind: str, step: Step) -> Iterator[tuple[Step, datetime]]:
    for condition in thing.get("status", {}).get("conditions") or []:
        if condition["type"] == kind and condition["status"] == "True":
            yield step, _time(condition["lastTransitionTime"])


def container_state(pod: Mapping[str, Any]) -> Object:
    """Return the state of the pod's container; empty before there is one."""
    statuses: list[Object] = pod.get("status", {}).get("containerStatuses") or []
    found: Object = statuses[0].get("state") or {} if statuses else {}
    return found


def _event_time(seen: Snapshot, uid: str, reason: str) -> datetime:
    for event in seen.events:
        if event.get("involvedObject", {}).get("uid") == uid and event["reason"] == reason:
            stated = event.get("eventTime") or event.get("firstTimestamp") or event.get("lastTimestamp")
            if stated:
                return _time(stated)
    return seen.at


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
