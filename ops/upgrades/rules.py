"""Moves of versions that EKS, ARC or the engine refuse, or that break a stack, each with its fix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gpu_ci.knowledge.kubernetes.support import MAX_SKEW, minor, skew
from gpu_ci.stack_file.faults import Fault
from ops.upgrades.order import arc_minor, kubernetes_moves, major
from ops.upgrades.pins import ARC_KINDS, AUTOSCALER_IMAGE, DRIVER, Kind, Move, Pin

_CLUSTER: Final = "cluster.version"
_KUBE_PROXY: Final = Pin(Kind.NODE_ADD_ON, "kube-proxy")
_IMAGE: Final = Pin(Kind.CHART, AUTOSCALER_IMAGE)


def refused(moves: Sequence[Move], before: Mapping[Pin, str], after: Mapping[Pin, str]) -> tuple[Fault, ...]:
    """Return the combinations of versions that cannot work.

    Args:
        moves: the versions that change.
        before: every version of the base.
        after: every version of this checkout.

    """
    return (
        *_kubernetes_steps(moves),
        *_skew(before, after),
        *_parts_of_a_version(after),
        *_arc_pair(after),
        *_arc_steps(moves),
        *_packages(moves),
    )


def _kubernetes_steps(moves: Sequence[Move]) -> Iterator[Fault]:
    for move in kubernetes_moves(moves):
        step = skew(move.new, move.old)
        if step < 0:
            problem = f"an update cannot take Kubernetes back from {move.old} to {move.new}"
            fix = (
                f'write "{move.old}". Within seven days of an upgrade, EKS can roll the control plane back: first the'
                " nodes, as docs/how-to/upgrade-eks.md describes"
            )
            yield Fault(_CLUSTER, problem, fix)
        if step > 1:
            first = f"{minor(move.old)[0]}.{minor(move.old)[1] + 1}"
            problem = f"EKS upgrades by one minor version at a time, and {move.old} to {move.new} are {step}"
            yield Fault(_CLUSTER, problem, f'write "{first}" first, and update {step} times as listed')


def _skew(before: Mapping[Pin, str], after: Mapping[Pin, str]) -> Iterator[Fault]:
    """Compare the nodes before the update with the new control plane, and the new nodes with it."""
    planes = [version for pin, version in after.items() if pin.kind is Kind.CONTROL_PLANE]
    for plane in planes:
        for nodes, words in ((before, "are"), (after, "become")):
            for pin, version in sorted(nodes.items()):
                if pin.kind is not Kind.NODE or pin.name.startswith(DRIVER):
                    continue
                older = skew(plane, version)
                if older > MAX_SKEW:
                    problem = f"its nodes {words} {older} minor versions older than the control plane {plane}"
                    fix = f"update the nodes first; a kubelet may be {MAX_SKEW} minor versions older"
                    yield Fault(pin.name, problem, fix)
                if older < 0 and nodes is after:
                    problem = f"its nodes become newer ({version}) than the control plane {plane}"
                    yield Fault(pin.name, problem, "pin an image release of the version of the cluster")


def _parts_of_a_version(after: Mapping[Pin, str]) -> Iterator[Fault]:
    """Compare kube-proxy and the autoscaler with the new control plane."""
    for plane in (version for pin, version in after.items() if pin.kind is Kind.CONTROL_PLANE):
        proxy = after.get(_KUBE_PROXY)
        if proxy is not None and not 0 <= skew(plane, proxy) <= MAX_SKEW:
            problem = f"{proxy} does not run with Kubernetes {plane}: it must not be newer, or {MAX_SKEW + 1} older"
            yield Fault(
                _KUBE_PROXY.name, problem, f'pin a version for "{plane}" in gpu_ci/knowledge/kubernetes/add_ons.py'
            )
        image = after.get(_IMAGE)
        if image is not None and skew(plane, image):
            problem = f"{image} has another minor version than Kubernetes {plane}"
            yield Fault(
                AUTOSCALER_IMAGE, problem, f'correct "{plane}" in CLUSTER_AUTOSCALER_IMAGES of gpu_ci/knowledge/pins.py'
            )


def _arc_pair(after: Mapping[Pin, str]) -> Iterator[Fault]:
    versions = {version for pin, version in after.items() if pin.kind in ARC_KINDS}
    if len(versions) > 1:
        problem = f"the charts of ARC have different versions ({', '.join(sorted(versions))})"
        yield Fault("ARC_CHARTS", problem, "use one version: a controller deletes scale sets of another minor version")


def _arc_steps(moves: Sequence[Move]) -> Iterator[Fault]:
    steps = dict.fromkeys((move.old, move.new) for move in moves if move.pin.kind in ARC_KINDS and arc_minor(move))
    for old, new in steps:
        problem = f"{old} to {new} deletes every scale set with its running jobs, and Helm keeps the old definitions"
        yield Fault("ARC_CHARTS", problem, "remove ARC, and install the new version, in the two updates below")


def _packages(moves: Sequence[Move]) -> Iterator[Fault]:
    packages = [move for move in moves if move.pin.kind is Kind.PACKAGE]
    for move in packages:
        if int(move.new.split(".")[0]) < int(move.old.split(".")[0]):
            problem = f"{move.old} has written the state, and {move.new} cannot read it"
            yield Fault(move.pin.name, problem, f"restore {move.old}, or import a state that {move.new} wrote")
    changed = [move.pin.name for move in packages if major(move)]
    if changed and len(moves) > len(packages):
        problem = "a new major version rewrites the state, so its preview must show no other change"
        yield Fault(", ".join(changed), problem, "update the packages first, and the rest in another update")
