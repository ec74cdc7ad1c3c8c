"""Check that each runner has a scale set at its version, and that its runners start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from components.kubernetes.namespaces import RUNNERS
from gpu_ci.knowledge import pins
from ops.doctor.chain.controller import VERSION
from ops.doctor.chain.sections import arc as applies
from ops.doctor.finding import broken, doubtful, works
from ops.doctor.questions import kubernetes
from ops.doctor.questions.scale_sets import names, objects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.kubernetes.arc_links import Objects
    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "scale-sets"
NEEDS: Final = ("kubernetes-api",)

_SET: Final = "actions.github.com/scale-set-name"
_OUTDATED: Final = "Outdated"


def check(world: World) -> Iterator[Verdict]:
    """Yield missing and outdated scale sets, and runners that failed."""
    found = objects(world)
    for name in names(world.stack):
        faults = list(_faults(name, found))
        yield from faults
        if not faults:
            status = (found.scale_set(name) or {}).get("status", {})
            yield works(CHECK, f"runners.{name}", f"its scale set has {status.get('currentRunners', 0)} runners")


def _faults(name: str, found: Objects) -> Iterator[Verdict]:
    subject, one = f"runners.{name}", found.scale_set(name)
    if one is None:
        yield broken(
            CHECK,
            subject,
            seen=f"{RUNNERS} has no scale set {name}",
            means="jobs for it wait: no runner takes them",
            fix="run `pulumi up --refresh`; if the release exists without it, the listeners check has the command",
        )
        return
    meta, status = one["metadata"], one.get("status", {})
    if meta.get("deletionTimestamp"):
        yield broken(
            CHECK,
            subject,
            seen="its scale set is terminating",
            means="it waits for running jobs, or no controller removes its finalizers",
            fix="wait for the jobs; then see the entry about scale sets that stay Terminating in docs/runbook.md",
        )
    runners = [one for one in found.of("EphemeralRunner") if kubernetes.labels(one).get(_SET) == name]
    if _OUTDATED in {status.get("phase"), *(one.get("status", {}).get("phase") for one in runners)}:
        yield broken(
            CHECK,
            subject,
            seen="its phase is Outdated",
            means="GitHub refuses the version of the runner in the image, so runners end at once",
            fix="build the runner image with the newest runner, state its digest, and run `pulumi up`",
        )
    for runner in runners:
        yield from _runner(subject, runner)
    version = kubernetes.labels(one).get(VERSION, "")
    if version and version.split(".")[:2] != pins.ARC_CHARTS.split(".")[:2]:
        yield broken(
            CHECK,
            subject,
            seen=f"the version of its scale set is {version}, and that of this program {pins.ARC_CHARTS}",
            means="a controller deletes scale sets of another minor version",
            fix="follow docs/how-to/upgrade-arc.md",
        )


def _runner(subject: str, runner: dict[str, Any]) -> Iterator[Verdict]:
    status, name = runner.get("status", {}), kubernetes.name(runner)
    delete = f"`kubectl --namespace {RUNNERS} delete ephemeralrunner {name}`"
    if status.get("phase") == "Failed":
        yield broken(
            CHECK,
            subject,
            seen=f"{name} failed: {status.get('reason', 'no reason')}: {status.get('message', 'no message')}",
            means="the controller does not replace a failed runner, and it counts against the maximum",
            fix=f"read the checks pending-pods, pod-images and runner-log for the cause; then {delete}",
        )
    elif status.get("failures"):
        yield doubtful(
            CHECK,
            subject,
            seen=f"{name} failed to start {len(status['failures'])} times",
            means="after five failures the controller gives the runner up",
            fix="read the checks pending-pods, pod-images and runner-log for the cause",
        )
