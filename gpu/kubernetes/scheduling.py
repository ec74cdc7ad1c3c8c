"""Whether a pod can go to a node: the scheduler's filters, with reasons.

A port of kube-scheduler 1.35's NodeResourcesFit, TaintToleration and NodeAffinity (required part), and of the
DaemonSet controller's choice of nodes. Scores, volumes, ports and pod affinity are left out: a runner states none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from gpu.kubernetes.quantities import NOTHING, PODS, Resources, describe, total

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gpu.kubernetes.daemonsets import DaemonSet
    from gpu.kubernetes.pods import Pod, Taint

KEEPS_AWAY = frozenset({"NoSchedule", "NoExecute"})
"""Effects that the scheduler heeds; it looks for exactly these words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node, real or imagined."""

    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    allocatable: Resources = NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One reason why a pod cannot go to a node."""

    kind: Literal["resource", "taint", "label"]
    subject: str
    """The resource, the taint's key or the label's key."""
    reason: str
    wanted: str = ""
    """The label's value that was asked for; empty where any would do, or where it is not about a label."""


def refusals(pod: Pod, node: Node, *, others: Iterable[Pod] = ()) -> tuple[Refusal, ...]:
    """Every reason why the pod cannot go there beside the `others`; none where it can."""
    return (*taint_refusals(pod, node), *label_refusals(pod, node), *resource_refusals(pod, node, others=others))


def resource_refusals(pod: Pod, node: Node, *, others: Iterable[Pod] = ()) -> tuple[Refusal, ...]:
    """The resources of which too little is left, each with the figures."""
    beside = tuple(others)
    left = node.allocatable - total(other.requests for other in beside)
    found = [
        Refusal(
            kind="resource",
            subject=resource,
            reason=f"asks for {describe(resource, amount)} where {describe(resource, max(0, left[resource]))} is left",
        )
        for resource, amount in pod.requests.amounts
        if amount > left[resource]
    ]
    if len(beside) + 1 > node.allocatable[PODS]:
        reason = f"would be pod {len(beside) + 1} on a node for {node.allocatable[PODS]} pods"
        found.append(Refusal(kind="resource", subject=PODS, reason=reason))
    return tuple(found)


def taint_refusals(pod: Pod, node: Node) -> tuple[Refusal, ...]:
    """The taints that the pod does not tolerate."""
    return tuple(
        Refusal(kind="taint", subject=taint.key, reason=f"does not tolerate the taint {taint}")
        for taint in node.taints
        if taint.effect in KEEPS_AWAY and not any(one.tolerates(taint) for one in pod.tolerations)
    )


def label_refusals(pod: Pod, node: Node) -> tuple[Refusal, ...]:
    """The labels that the pod insists on and the node lacks; of an affinity, those of its nearest term."""
    found = [
        Refusal(kind="label", subject=key, wanted=value, reason=_label_reason(key, value, node))
        for key, value in pod.node_selector
        if node.labels.get(key) != value
    ]
    if pod.required is not None:
        missing = [
            [requirement for requirement in term if not requirement.matches(node.labels)] for term in pod.required
        ]
        if not missing:
            found.append(
                Refusal(kind="label", subject="", reason="has a node affinity without any term, which matches no node")
            )
        elif all(missing):
            found.extend(
                Refusal(
                    kind="label",
                    subject=requirement.key,
                    wanted=requirement.values[0] if requirement.operator == "In" else "",
                    reason=f"needs a node with {requirement}",
                )
                # The last of equals: charts put the label that is set by hand behind those that are discovered.
                for requirement in min(reversed(missing), key=len)
            )
    return tuple(found)


def _label_reason(key: str, value: str, node: Node) -> str:
    has = f"where the node has {key}={node.labels[key]}" if key in node.labels else "and the node has no such label"
    return f"selects {key}={value}, {has}"


def lands(daemonset: DaemonSet, node: Node) -> tuple[Refusal, ...]:
    """Why the DaemonSet controller makes no pod of it for the node; none where it does. Room plays no part."""
    return (*taint_refusals(daemonset.pod, node), *label_refusals(daemonset.pod, node))


def landing(daemonsets: Iterable[DaemonSet], node: Node) -> tuple[DaemonSet, ...]:
    """Those of the DaemonSets that get a pod on the node."""
    return tuple(daemonset for daemonset in daemonsets if not lands(daemonset, node))
