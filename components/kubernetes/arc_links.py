"""The links between a scale set in the cluster and GitHub, read from the objects of the cluster. Pure, for Python 3.9.

Sources: actions/actions-runner-controller 0.14.2 and actions/scaleset (2026-11), for the names of fields and log lines.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from components.kubernetes.namespaces import SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCALE_SET_ID: Final = "runner-scale-set-id"
"""The annotation with the id that GitHub gave the scale set."""
SESSION: Final = ("Getting next message", "Message session created", "Current runner scale set statistics")
"""The lines that a listener logs after it has a session, at the levels debug and info."""
SILENT_SECONDS: Final = 120
"""A listener without a session ends within this time, so one that runs longer and logs nothing has one."""
LISTED: Final = "kubectl get autoscalingrunnersets --all-namespaces"
CONTROLLER_LOG: Final = (
    f"kubectl --namespace {SYSTEMS} logs --selector app.kubernetes.io/part-of=gha-rs-controller --tail 100"
)

PROTECTION: Final = "actions.github.com/cleanup-protection"
"""The finalizer of the accounts and roles of a scale set."""
UNPROTECTED: Final = '{"metadata":{"finalizers":null}}'
"""A patch that removes finalizers."""

Item = dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """A broken link."""

    problem: str
    """The broken link, as a clause."""
    fix: str
    """The fix, as a clause."""
    lasts: bool = False
    """Whether waiting does not help."""


@dataclass(frozen=True)
class Objects:
    """The objects of the controller, as `kubectl get --output json` prints them."""

    items: Sequence[Item] = field(default_factory=list)
    """The objects of both namespaces."""

    def of(self, kind: str) -> list[Item]:
        """Return the objects of one kind."""
        return [item for item in self.items if item.get("kind") == kind]

    def scale_set(self, name: str) -> Item | None:
        """Return a scale set."""
        return next((one for one in self.of("AutoscalingRunnerSet") if one["metadata"]["name"] == name), None)

    def listener(self, name: str) -> Item | None:
        """Return the listener of a scale set, unless it is terminating or not the only one."""
        found = [
            one
            for one in self.of("AutoscalingListener")
            if one["spec"]["autoscalingRunnerSetName"] == name and not _terminates(one)
        ]
        return found[0] if len(found) == 1 else None


def broken(name: str, objects: Objects, *, log: str, now: datetime, release: str) -> Problem | None:
    """Return the first broken link of a scale set; None if its listener has a session at GitHub.

    Args:
        name: the name of the scale set.
        objects: the objects of both namespaces.
        log: the last lines of the listener.
        now: the present, with a time zone.
        release: the URN of the scale set's release.

    """
    found, replace = objects.scale_set(name), f"run `pulumi up --replace '{release}'`"
    if found is None:
        problem = "the cluster has no scale set, although its release is installed"
        return Problem(problem=problem, fix=replace, lasts=True)
    if _terminates(found):
        problem = "the release was installed into a scale set that is still terminating, and ends with it"
        fix = f"wait until `{LISTED}` does not list it, and then {replace}"
        return Problem(problem=problem, fix=fix, lasts=True)
    id_ = found["metadata"].get("annotations", {}).get(SCALE_SET_ID)
    if not id_:
        fix = (
            "check app-id, installation-id and the key of the GitHub App, its permission for self-hosted runners, and"
            " arc.runner-group; then run `pulumi up`"
        )
        return Problem(problem="GitHub has not registered the scale set", fix=fix)
    listener = objects.listener(name)
    if listener is None:
        return Problem(problem="the scale set has no single listener", fix=f"read `{CONTROLLER_LOG}`")
    return _broken_listener(listener, id_, objects) or _broken_session(listener, objects, log, now)


def errors(log: str) -> list[str]:
    """Return the errors in a log of the controller or of a listener, as `message: error`.

    Both write JSON, with a severity or a level. The last line of a listener that ends is plain text.
    """
    found = []
    for line in log.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            if "error" in line.lower():
                found.append(line.strip())
            continue
        if isinstance(entry, dict) and str(entry.get("severity") or entry.get("level")).lower() == "error":
            parts = (entry.get("message") or entry.get("msg"), entry.get("error"))
            found.append(": ".join(str(part) for part in parts if part))
    return found


def remaining(objects: Objects) -> list[str]:
    """Return a line for each scale set that still exists, with the jobs that it waits for."""
    return [
        f"{name} ({', '.join(_jobs(name, objects)) or 'no job'})"
        for name in sorted(one["metadata"]["name"] for one in objects.of("AutoscalingRunnerSet"))
    ]


def leftovers(objects: Objects) -> list[str]:
    """Return the accounts and roles that the controller never releases: those that a scale set no longer uses.

    An update of a scale set that removes them from its chart also removes the annotations by which the controller knows
    them. Their finalizer would keep the namespace forever.
    """
    return [
        f"{kind.lower()}/{one['metadata']['name']}"
        for kind in ("RoleBinding", "Role", "ServiceAccount")
        for one in objects.of(kind)
        if "deletionTimestamp" in one["metadata"] and PROTECTION in one["metadata"].get("finalizers", ())
    ]


def _jobs(name: str, objects: Objects) -> list[str]:
    return [
        f"job {status['jobDisplayName']} of {status.get('jobRepositoryName', 'an unknown repository')}"
        for one in objects.of("EphemeralRunner")
        if (status := one.get("status", {})).get("jobDisplayName")
        and one["metadata"].get("labels", {}).get("actions.github.com/scale-set-name") == name
    ]


def _broken_listener(listener: Item, id_: str, objects: Objects) -> Problem | None:
    """Return the problem of a listener that serves deleted objects: the controller has a race at creation."""
    name, spec = listener["metadata"]["name"], listener["spec"]
    current = {one["metadata"]["name"] for one in objects.of("EphemeralRunnerSet") if not _terminates(one)}
    if spec["ephemeralRunnerSetName"] in current and str(spec["runnerScaleSetId"]) == id_:
        return None
    return Problem(
        problem=f"the listener {name} is bound to objects that were deleted",
        fix=f"run `kubectl --namespace {SYSTEMS} delete autoscalinglistener {name}`, and then `pulumi up`. The"
        " controller creates another listener",
    )


def _broken_session(listener: Item, objects: Objects, log: str, now: datetime) -> Problem | None:
    name = listener["metadata"]["name"]
    pod = next((one for one in objects.of("Pod") if one["metadata"]["name"] == name), None)
    if pod is None or _terminates(pod):
        problem = f"the listener {name} has no pod"
        return Problem(problem=problem, fix=f"read `kubectl --namespace {SYSTEMS} get events`")
    started = _started(pod)
    if started is None:
        fix = f"read `kubectl --namespace {SYSTEMS} describe pod {name}`; listeners run on the system nodes"
        return Problem(problem=f"the pod of the listener {name} does not run: {_reason(pod)}", fix=fix)
    if any(line in log for line in SESSION):
        return None
    if not log.strip() and (now - started).total_seconds() >= SILENT_SECONDS:
        # At the log levels warn and error a listener with a session logs nothing.
        return None
    last = next((line for line in reversed(log.splitlines()) if line.strip()), "nothing")
    fix = f"check the key of the GitHub App; read `kubectl --namespace {SYSTEMS} logs {name}`"
    return Problem(problem=f"the listener {name} has no session at GitHub; it logged: {last[:300]}", fix=fix)


def _started(pod: Item) -> datetime | None:
    """Return the time since which the listener's container runs."""
    for status in pod.get("status", {}).get("containerStatuses", []):
        running: Mapping[str, Any] | None = status["state"].get("running")
        if status["name"] == "listener" and running:
            # Before Python 3.11, `fromisoformat` refuses a `Z`.
            return datetime.fromisoformat(running["startedAt"].replace("Z", "+00:00"))  # noqa: FURB162
    return None


def _reason(pod: Item) -> str:
    """Return the reason that a pod does not run."""
    status = pod.get("status", {})
    states = [state for one in status.get("containerStatuses", []) for state in one["state"].values()]
    waits = [*states, *(one for one in status.get("conditions", []) if one.get("status") == "False")]
    cause: Mapping[str, Any] = next((one for one in waits if one.get("reason")), {})
    return ": ".join(str(cause[key]) for key in ("reason", "message") if cause.get(key)) or status.get(
        "phase", "unknown"
    )


def _terminates(item: Item) -> bool:
    return bool(item["metadata"].get("deletionTimestamp"))
