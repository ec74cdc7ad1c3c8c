"""The Actions Runner Controller: its key, its scale sets, and their listeners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from components.kubernetes.arc_links import CONTROLLER_LOG, Objects, errors
from components.kubernetes.arc_links import broken as broken_link
from components.kubernetes.namespaces import RUNNERS, SYSTEMS
from gpu_ci.knowledge import pins
from gpu_ci.stack_file.identity import PROJECT
from ops.doctor.chain import sections
from ops.doctor.check import Chapter
from ops.doctor.finding import Finding, broken, doubtful, works
from ops.doctor.log.reasons import reason_of, reasons_in
from ops.doctor.questions import kubernetes
from ops.doctor.questions.scale_sets import names, objects
from ops.doctor.world.world import World

CHAPTER: Final = Chapter()

_CONTROLLER: Final = "app.kubernetes.io/part-of=gha-rs-controller"
_VERSION: Final = "app.kubernetes.io/version"


@CHAPTER.check(needs=("kubernetes-api",), applies=sections.arc)
def arc_controller(world: World) -> Iterator[Finding]:
    """Check that the Actions Runner Controller runs in the version of the scale sets, and that GitHub accepts its
    key.
    """
    path = f"/apis/apps/v1/namespaces/{SYSTEMS}/deployments"
    found = kubernetes.items(world, path, labelSelector=_CONTROLLER)
    if not found:
        yield broken(
            "arc-controller",
            seen=f"{SYSTEMS} has no deployment of the controller",
            means="no runner is created, and scale sets cannot be removed",
            fix="run `pulumi up --refresh`",
        )
        return
    pods = kubernetes.pods(world, SYSTEMS, _CONTROLLER)
    faults = [*_deployment(found[0], pods), *_logged(world, pods)]
    yield from faults
    if not faults:
        yield works("arc-controller", f"the controller {pins.ARC_CHARTS} runs")


def _deployment(deployment: dict[str, Any], pods: list[dict[str, Any]]) -> Iterator[Finding]:
    version = kubernetes.labels(deployment).get(_VERSION, "")
    if version.split(".")[:2] != pins.ARC_CHARTS.split(".")[:2]:
        yield broken(
            "arc-controller",
            seen=f"the controller has version {version or 'unknown'}, and the scale sets have {pins.ARC_CHARTS}",
            means="a controller deletes scale sets of another minor version",
            fix="follow docs/how-to/upgrade-arc.md",
        )
    if not deployment.get("status", {}).get("readyReplicas"):
        yield broken(
            "arc-controller",
            seen=f"no pod of the controller is ready{kubernetes.why_waiting(pods)}",
            means="no runner is created while it does not run",
            fix=f"read `kubectl --namespace {SYSTEMS} describe pods`; it runs on the system nodes",
        )


def _logged(world: World, pods: list[dict[str, Any]]) -> Iterator[Finding]:
    logged = [one for pod in pods for one in errors(kubernetes.log(world, pod, "manager"))]
    for one, found in reasons_in("arc-controller", logged):
        yield broken("arc-controller", seen=f"its log: {found[-1][:300]}", means=one.meaning, fix=one.fix)
    if unknown := [one for one in logged if reason_of("arc-controller", one) is None]:
        yield doubtful(
            "arc-controller",
            seen=f"its log: {unknown[-1][:300]}",
            means="the doctor does not know this error; it may be over",
            fix=f"read `{CONTROLLER_LOG}`",
        )


_APP_OBJECT: Final = "github-app"
_PRIVATE: Final = "github_app_private_key"
_KEYS: Final = ("github_app_id", "github_app_installation_id", _PRIVATE)
_SET_APP_KEY: Final = "`pulumi config set --secret gpu-ci:github-app-private-key < key.pem`, and `pulumi up`"


@CHAPTER.check(needs=("kubernetes-api",), applies=sections.arc)
def github_app_secret(world: World) -> Iterator[Finding]:
    """Check that the cluster has the Secret with the key of the GitHub App. Its values are never read."""
    subject = f"secret {RUNNERS}/{_APP_OBJECT}"
    found = world.cluster.ask(f"/api/v1/namespaces/{RUNNERS}/secrets/{_APP_OBJECT}")
    if found is None:
        yield broken(
            subject,
            seen="it does not exist",
            means="no scale set can register at GitHub or be removed from it",
            fix="run `pulumi up --refresh`",
        )
        return
    data = found.get("data", {})
    empty = [key for key in _KEYS if not data.get(key, {}).get("bytes")]
    if empty:
        yield broken(
            subject,
            seen=f"it has no {' and no '.join(empty)}",
            means="the controller cannot sign in to GitHub",
            fix=_SET_APP_KEY,
        )
    elif not data[_PRIVATE].get("pem"):
        yield broken(
            subject,
            seen=f"{_PRIVATE} has {data[_PRIVATE]['bytes']} bytes and is not a key in PEM form",
            means="the controller cannot sign in to GitHub",
            fix=f"download a new key from the page of the App: {_SET_APP_KEY}",
        )
    else:
        yield works(subject, f"it has {', '.join(_KEYS)}")


_SCALE_SET: Final = "actions.github.com/scale-set-name"
_OUTDATED: Final = "Outdated"


@CHAPTER.check(needs=("kubernetes-api",), applies=sections.arc)
def scale_sets(world: World) -> Iterator[Finding]:
    """Check that each runner has a scale set at its version, and that its runners start."""
    found = objects(world)
    for name in names(world.stack):
        faults = list(_faults(name, found))
        yield from faults
        if not faults:
            status = (found.scale_set(name) or {}).get("status", {})
            yield works(f"runners.{name}", f"its scale set has {status.get('currentRunners', 0)} runners")


def _faults(name: str, found: Objects) -> Iterator[Finding]:
    subject, one = f"runners.{name}", found.scale_set(name)
    if one is None:
        yield broken(
            subject,
            seen=f"{RUNNERS} has no scale set {name}",
            means="jobs for it wait: no runner takes them",
            fix="run `pulumi up --refresh`; if the release exists without it, the listeners check has the command",
        )
        return
    meta, status = one["metadata"], one.get("status", {})
    if meta.get("deletionTimestamp"):
        yield broken(
            subject,
            seen="its scale set is terminating",
            means="it waits for running jobs, or no controller removes its finalizers",
            fix="wait for the jobs; then see the entry about scale sets that stay Terminating in docs/runbook.md",
        )
    runners = [one for one in found.of("EphemeralRunner") if kubernetes.labels(one).get(_SCALE_SET) == name]
    if _OUTDATED in {status.get("phase"), *(one.get("status", {}).get("phase") for one in runners)}:
        yield broken(
            subject,
            seen="its phase is Outdated",
            means="GitHub refuses the version of the runner in the image, so runners end at once",
            fix="build the runner image with the newest runner, state its digest, and run `pulumi up`",
        )
    for runner in runners:
        yield from _runner(subject, runner)
    version = kubernetes.labels(one).get(_VERSION, "")
    if version and version.split(".")[:2] != pins.ARC_CHARTS.split(".")[:2]:
        yield broken(
            subject,
            seen=f"the version of its scale set is {version}, and that of this program {pins.ARC_CHARTS}",
            means="a controller deletes scale sets of another minor version",
            fix="follow docs/how-to/upgrade-arc.md",
        )


def _runner(subject: str, runner: dict[str, Any]) -> Iterator[Finding]:
    status, name = runner.get("status", {}), kubernetes.name(runner)
    delete = f"`kubectl --namespace {RUNNERS} delete ephemeralrunner {name}`"
    if status.get("phase") == "Failed":
        yield broken(
            subject,
            seen=f"{name} failed: {status.get('reason', 'no reason')}: {status.get('message', 'no message')}",
            means="the controller does not replace a failed runner, and it counts against the maximum",
            fix=f"read the checks pending-pods, pod-images and runner-log for the cause; then {delete}",
        )
    elif status.get("failures"):
        yield doubtful(
            subject,
            seen=f"{name} failed to start {len(status['failures'])} times",
            means="after five failures the controller gives the runner up",
            fix="read the checks pending-pods, pod-images and runner-log for the cause",
        )


_RELEASE: Final = "gpu-ci:kubernetes:ScaleSet$kubernetes:helm.sh/v3:Release"
"""The qualified type of the release of a scale set."""


@CHAPTER.check(needs=("arc-controller", "github-app-secret"), applies=sections.arc)
def listeners(world: World) -> Iterator[Finding]:
    """Check that the listener of each scale set has a session at GitHub."""
    found = objects(world)
    for name in names(world.stack):
        release = f"urn:pulumi:{world.stack.identity.stack}::{PROJECT}::{_RELEASE}::runner-{name}"
        problem = broken_link(name, found, log=_listener_log(world, name, found), now=world.now, release=release)
        if problem is None:
            yield works(f"runners.{name}", "its listener has a session at GitHub")
        else:
            yield broken(
                f"runners.{name}",
                seen=problem.problem,
                means="GitHub keeps the jobs for it in the queue, because no listener asks for them",
                fix=problem.fix,
            )


def _listener_log(world: World, name: str, found: Objects) -> str:
    listener = found.listener(name)
    pods = [pod for pod in found.of("Pod") if listener and kubernetes.name(pod) == kubernetes.name(listener)]
    return kubernetes.log(world, pods[0], "listener") if pods else ""
