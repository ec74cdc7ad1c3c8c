"""Check that the Actions Runner Controller runs in the version of the scale sets, and that GitHub accepts its key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from components.kubernetes.namespaces import SYSTEMS
from gpu_ci.knowledge import pins
from ops.doctor.chain.sections import arc as applies
from ops.doctor.finding import broken, works
from ops.doctor.questions import kubernetes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "arc-controller"
NEEDS: Final = ("kubernetes-api",)

SELECTOR: Final = "app.kubernetes.io/part-of=gha-rs-controller,app.kubernetes.io/component=controller-manager"
VERSION: Final = "app.kubernetes.io/version"
_KEY: Final = "set a valid key as docs/how-to/rotate-the-github-app-key.md describes"
_ERRORS: Final = (
    (("401", "Bad credentials", "JSON web token"), "GitHub rejects the key of the App", _KEY),
    (
        ("403 Forbidden", "Resource not accessible by integration"),
        "the GitHub App lacks the permission for self-hosted runners",
        "give the App the permission `Self-hosted runners: write`, and accept it for the installation",
    ),
    (
        ("404 Not Found",),
        "GitHub knows no installation of the App for github.url, or the App may not see the repository",
        "compare github.url, app-id and installation-id with the page of the installation at GitHub",
    ),
    (
        ("no runner group found", "runner group not found", "Runner group"),
        "GitHub has no runner group of that name",
        "create the group of arc.runner-group at GitHub, or state another one",
    ),
    (("rate limit",), "GitHub limits the requests of the App", "wait an hour"),
    (
        ("no such host", "i/o timeout", "connection refused"),
        "the controller does not reach GitHub",
        "check the NAT gateway and DNS: `kubectl --namespace kube-system get pods --selector k8s-app=kube-dns`",
    ),
)
"""Errors in the log: their texts, the meaning and the fix (actions-runner-controller 0.14.2)."""


def check(world: World) -> Iterator[Verdict]:
    """Yield faults of the controller's deployment and errors in its log."""
    path = f"/apis/apps/v1/namespaces/{SYSTEMS}/deployments"
    found = kubernetes.items(world, path, labelSelector=SELECTOR)
    if not found:
        yield broken(
            CHECK,
            "arc-controller",
            seen=f"{SYSTEMS} has no deployment of the controller",
            means="no runner is created, and scale sets cannot be removed",
            fix="run `pulumi up --refresh`",
        )
        return
    pods = kubernetes.pods(world, SYSTEMS, SELECTOR)
    faults = [*_deployment(found[0], pods), *_logged(world, pods)]
    yield from faults
    if not faults:
        yield works(CHECK, "arc-controller", f"the controller {pins.ARC_CHARTS} runs")


def _deployment(deployment: dict[str, Any], pods: list[dict[str, Any]]) -> Iterator[Verdict]:
    version = kubernetes.labels(deployment).get(VERSION, "")
    if version.split(".")[:2] != pins.ARC_CHARTS.split(".")[:2]:
        yield broken(
            CHECK,
            "arc-controller",
            seen=f"the controller has version {version or 'unknown'}, and the scale sets have {pins.ARC_CHARTS}",
            means="a controller deletes scale sets of another minor version",
            fix="follow docs/how-to/upgrade-arc.md",
        )
    if not deployment.get("status", {}).get("readyReplicas"):
        yield broken(
            CHECK,
            "arc-controller",
            seen=f"no pod of the controller is ready{kubernetes.why_waiting(pods)}",
            means="no runner is created while it does not run",
            fix=f"read `kubectl --namespace {SYSTEMS} describe pods`; it runs on the system nodes",
        )


def _logged(world: World, pods: list[dict[str, Any]]) -> Iterator[Verdict]:
    lines = [line for pod in pods for line in kubernetes.log(world, pod, "manager").splitlines()]
    errors = [line for line in lines if "error" in line.lower()]
    for texts, means, fix in _ERRORS:
        found = [line for line in errors if any(text in line for text in texts)]
        if found:
            yield broken(CHECK, "arc-controller", seen=f"its log: {found[-1].strip()[:300]}", means=means, fix=fix)
