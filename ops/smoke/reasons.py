"""The reason why a smoke test failed or does not proceed, and its fix. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from components.kubernetes.gpus.smoke_check import COUNT, CUDA, DRIVER, PRODUCT
from ops.smoke.timeline import Step, Timeline, container_state

RUNBOOK: Final = "docs/runbook.md"
SECTION: Final = f"{RUNBOOK}#a-smoke-test-fails"
WITHOUT_NODE: Final = f"{RUNBOOK}#no-node-starts"
WITHOUT_GPU: Final = f"{RUNBOOK}#a-node-has-no-gpu"

WAITS: Final = f"{RUNBOOK}#a-job-waits-for-a-runner"

PULLS: Final = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError", "CreateContainerError"}
)
"""States of a container that does not start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One reason."""

    problem: str
    fix: str
    runbook: str = SECTION

    def __str__(self) -> str:
        """Return it as one line."""
        return f"{self.problem}; {self.fix} ({self.runbook})"


_BY_CODE: Final = {
    DRIVER: ("the driver of the node fails", "replace the node; if it repeats, look at the node image", WITHOUT_GPU),
    COUNT: ("the node has other GPUs than it offers", "look at the log of the device plugin", WITHOUT_GPU),
    CUDA: ("PyTorch has no CUDA", "use an image with PyTorch for a CUDA version that the driver has", SECTION),
    PRODUCT: ("the GPU computes wrongly or not at all", "delete the node, and end its instance", SECTION),
    137: ("the container was killed", "use an image whose test needs less than 4Gi of memory", SECTION),
    127: ("the image has no python3", "use an image with Python and PyTorch", SECTION),
    128: ("the container did not start", "use an image with Python and PyTorch", SECTION),
}
"""Exit code of the test to its problem, the fix and the place in the runbook."""


def reason(timeline: Timeline) -> Reason:
    """Return why a test failed, or why it has not ended yet."""
    pod = timeline.pod
    if pod is None:
        problem = "the Job has no pod"
        return Reason(problem=problem, fix=f"kubectl --namespace gpu-smoke describe job {timeline.job}")
    state = container_state(pod)
    if (ended := state.get("terminated")) is not None and ended.get("exitCode"):
        return _exit(int(ended["exitCode"]), ended.get("message") or ended.get("reason") or "")
    if (waiting := state.get("waiting", {})).get("reason") in PULLS:
        problem = f"{waiting['reason']}: {_line(waiting.get('message', ''))}"
        return Reason(problem=problem, fix="correct the image of smoke-test, or its access to the registry")
    status = pod.get("status", {})
    if status.get("reason"):
        problem = f"the node refused the pod: {status['reason']} {_line(status.get('message', ''))}".rstrip()
        return Reason(problem=problem, fix="look at the log of the device plugin", runbook=WITHOUT_GPU)
    if timeline.lost:
        problem = f"the node {', '.join(timeline.lost)} disappeared"
        return Reason(problem=problem, fix="run it again; a spot machine can be interrupted at any time")
    return _waiting(timeline)


def _exit(code: int, message: str) -> Reason:
    text = next((line for line in reversed(message.splitlines()) if line.startswith("failed: ")), _line(message))
    known = _BY_CODE.get(code)
    if known is None:
        return Reason(problem=f"the test ended with {code}: {text}", fix="read its output above")
    problem, fix, runbook = known
    return Reason(problem=f"{problem}: {text.removeprefix('failed: ')}", fix=fix, runbook=runbook)


def _waiting(timeline: Timeline) -> Reason:
    """Return why a pod waits, by the last step that it reached."""
    node, message = timeline.node, _line(timeline.events.get("Failed", ""))
    by_step = {
        Step.NODE: Reason(
            problem=f"the node {node} is not ready", fix=f"kubectl describe node {node}", runbook=WITHOUT_NODE
        ),
        Step.READY: Reason(
            problem=f"the node {node} has no GPU", fix="look at the device plugin on it", runbook=WITHOUT_GPU
        ),
        Step.STARTED: Reason(
            problem="the test does not end", fix="the GPU hangs: delete the node", runbook=WITHOUT_GPU
        ),
        **dict.fromkeys(
            (Step.SCHEDULED, Step.PULLED),
            Reason(
                problem=f"the pod is on {node}, and its container does not run{f': {message}' if message else ''}",
                fix="a large image takes minutes: raise smoke-test.timeout-minutes",
            ),
        ),
    }
    reached = timeline.reached
    return by_step[reached] if reached in by_step and reached is not None else _without_node(timeline.events)


def _without_node(events: Mapping[str, str]) -> Reason:
    """Return why no node starts, by the events of the pod."""
    if "TriggeredScaleUp" in events:
        problem = f"no node joined: {_line(events['TriggeredScaleUp'])}"
        return Reason(problem=problem, fix="look for capacity, quota and a failed start", runbook=WITHOUT_NODE)
    if "NotTriggerScaleUp" in events:
        return Reason(
            problem=f"NotTriggerScaleUp: {_line(events['NotTriggerScaleUp'])}",
            fix=_not_triggered(events["NotTriggerScaleUp"]),
            runbook=WAITS,
        )
    if "FailedScheduling" in events:
        problem = f"FailedScheduling: {_line(events['FailedScheduling'])}; the autoscaler says nothing"
        fix = "kubectl --namespace kube-system logs deployment/cluster-autoscaler --tail 100"
        return Reason(problem=problem, fix=fix, runbook=WAITS)
    return Reason(problem="the pod has no event", fix="run `make doctor`", runbook=WAITS)


def _not_triggered(message: str) -> str:
    if "max node group size reached" in message:
        return "all nodes of the pool are busy: wait, or raise its max"
    if match := re.search(r"Insufficient (\S+?)[,.;]?(\s|$)", message):
        return f"no node of the pool has enough {match[1]}: run `make plan`"
    return "run `make plan`, and wait six minutes after a change of a pool"


def _line(text: str) -> str:
    """Return a message in one line."""
    line = " ".join(text.split())
    return line if len(line) <= 300 else f"{line[:300]}…"
