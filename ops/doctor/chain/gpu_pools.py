"""Check that the Cluster Autoscaler runs, sees every pool, and did not stop to scale one up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import yaml

from components.kubernetes.autoscaler_values import NAMESPACE
from components.kubernetes.autoscaler_values import SERVICE_ACCOUNT as NAME
from gpu_ci.derived.kubernetes import node_groups
from ops.doctor.chain.sections import autoscaler as applies
from ops.doctor.finding import broken, doubtful, works
from ops.doctor.questions import kubernetes
from ops.doctor.questions import node_groups as eks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "autoscaler"
NEEDS: Final = ("kubernetes-api",)

STATUS: Final = f"{NAME}-status"
UPDATED: Final = "cluster-autoscaler.kubernetes.io/last-updated"
_STALE: Final = timedelta(minutes=5)
"""The autoscaler writes its status every ten seconds."""
_LOOK: Final = f"kubectl --namespace {NAMESPACE} logs deployment/{NAME} --tail 100"
_FAULTS: Final = (
    (
        "AccessDenied",
        "its role lacks a permission of AWS",
        "run `pulumi up --refresh`; delete a pod that is older than its pod identity",
    ),
    (
        "no EC2 IMDS role found",
        "its pod has no role: it started before the pod identity was created",
        f"`kubectl --namespace {NAMESPACE} rollout restart deployment/{NAME}`",
    ),
    (
        "Failed to regenerate ASG cache",
        "it cannot list the auto-scaling groups",
        "check that the NAT gateway and the role of the autoscaler exist: `pulumi up --refresh`",
    ),
    (
        "couldn't get lease",
        "another instance has the lease, or the API of Kubernetes is slow",
        "wait a minute; if it stays, delete the Lease cluster-autoscaler in kube-system",
    ),
)
"""Messages in the log: the text, its meaning and the fix (kubernetes/autoscaler 1.35)."""


def check(world: World) -> Iterator[Verdict]:
    """Yield faults of the deployment, of its log, and of its status."""
    path = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{NAME}"
    deployment = world.cluster.ask(path)
    if deployment is None:
        yield broken(
            CHECK,
            "autoscaler",
            seen=f"{NAMESPACE} has no deployment {NAME}",
            means="no pool gets a node from zero",
            fix="run `pulumi up --refresh`",
        )
        return
    pods = kubernetes.pods(world, NAMESPACE, "app.kubernetes.io/name=aws-cluster-autoscaler")
    log = "\n".join(kubernetes.log(world, pod, "aws-cluster-autoscaler") for pod in pods)
    faults = [*_stopped(deployment, pods), *_logged(log), *_status(world)]
    yield from faults
    if not faults:
        yield works(CHECK, "autoscaler", "it runs, sees every pool, and none is in backoff")


def _stopped(deployment: dict[str, Any], pods: list[dict[str, Any]]) -> Iterator[Verdict]:
    if deployment.get("spec", {}).get("replicas") == 0:
        yield broken(
            CHECK,
            "autoscaler",
            seen=f"the deployment {NAME} has 0 replicas",
            means="a person stopped it, and no pool gets a node",
            fix=f"`kubectl --namespace {NAMESPACE} scale deployment/{NAME} --replicas 1`",
        )
    elif not deployment.get("status", {}).get("readyReplicas"):
        yield broken(
            CHECK,
            "autoscaler",
            seen=f"no pod of {NAME} is ready{kubernetes.why_waiting(pods)}",
            means="no pool gets a node while it does not run",
            fix=f"read `{_LOOK}`; it runs on the system nodes",
        )


def _logged(log: str) -> Iterator[Verdict]:
    for text, means, fix in _FAULTS:
        lines = [line for line in log.splitlines() if text in line]
        if lines:
            yield broken(CHECK, "autoscaler", seen=f"its log: {lines[-1].strip()[:300]}", means=means, fix=fix)


def _status(world: World) -> Iterator[Verdict]:
    found = world.cluster.ask(f"/api/v1/namespaces/{NAMESPACE}/configmaps/{STATUS}")
    if found is None:
        yield doubtful(
            CHECK,
            "autoscaler",
            seen=f"there is no ConfigMap {STATUS}",
            means="it has not finished its first pass, which takes less than a minute",
            fix=f"read `{_LOOK}`",
        )
        return
    written = _time(found["metadata"].get("annotations", {}).get(UPDATED, ""))
    if written is not None and world.now - written > _STALE:
        yield broken(
            CHECK,
            "autoscaler",
            seen=f"it wrote its status last at {written:%Y-%m-%d %H:%M} UTC",
            means="it hangs or has no lease: it writes the status every ten seconds",
            fix=f"`kubectl --namespace {NAMESPACE} rollout restart deployment/{NAME}`",
        )
    yield from _pools(world, _parsed(found.get("data", {}).get("status", "")))


def _pools(world: World, status: dict[str, Any]) -> Iterator[Verdict]:
    seen = {str(one.get("name")): one for one in status.get("nodeGroups") or []}
    groups = eks.actual(world)
    for wanted in node_groups(world.stack):
        for name in (one for group in eks.of(wanted, groups) for one in eks.auto_scaling_groups(group)):
            if name not in seen:
                yield broken(
                    CHECK,
                    wanted.path,
                    seen=f"its status does not list {name}",
                    means="the autoscaler does not know the pool, so it stays empty",
                    fix="read the check asg-tags; the name of the cluster in the tags and in the autoscaler must agree",
                )
                continue
            scaling = seen[name].get("scaleUp") or {}
            if scaling.get("status") == "Backoff":
                info = scaling.get("backoffInfo") or {}
                yield broken(
                    CHECK,
                    wanted.path,
                    seen=f"{name} is in backoff: {info.get('errorCode', '')}: {info.get('errorMessage', '')}",
                    means="a node did not start, so the autoscaler does not try this pool for 5 to 30 minutes",
                    fix="read the check node-launches for the reason of EC2; a fallback pool is tried in the meantime",
                )


def _parsed(text: str) -> dict[str, Any]:
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        return {}
    return found if isinstance(found, dict) else {}


def _time(text: str) -> datetime | None:
    """Parse the time as Go prints it: `2026-11-20 11:59:50.1 +0000 UTC`."""
    try:
        return datetime.strptime(text[:19], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return None
