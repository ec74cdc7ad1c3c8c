"""The scheduler's filters for a pod on a node, with reasons.

A port of kube-scheduler 1.35's NodeResourcesFit, TaintToleration and NodeAffinity (required part), and of the
DaemonSet controller's choice of nodes. Scores, volumes, ports and pod affinity are omitted: runners use none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from components.aws.nodes.taints import HARD_EFFECTS
from gpu_ci.knowledge.kubernetes.daemonsets import DaemonSet
from gpu_ci.knowledge.kubernetes.pods import Pod, Taint
from gpu_ci.knowledge.kubernetes.quantities import NOTHING, PODS, Resources, describe, total


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A real node, or one that the autoscaler assumes."""

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
    """The requested value of the label; empty where any value matches, and for other kinds."""


def refusals(pod: Pod, node: Node, *, others: Iterable[Pod] = ()) -> tuple[Refusal, ...]:
    """Return every reason why the pod cannot run there next to the `others`; empty where it can."""
    return (*taint_refusals(pod, node), *label_refusals(pod, node), *resource_refusals(pod, node, others=others))


def resource_refusals(pod: Pod, node: Node, *, others: Iterable[Pod] = ()) -> tuple[Refusal, ...]:
    """Return the resources of which too little is left, with figures."""
    running = tuple(others)
    left = node.allocatable - total(other.requests for other in running)
    found = [
        Refusal(
            kind="resource",
            subject=resource,
            reason=f"requests {describe(resource, amount)} but {describe(resource, max(0, left[resource]))} is left",
        )
        for resource, amount in pod.requests.amounts
        if amount > left[resource]
    ]
    if len(running) + 1 > node.allocatable[PODS]:
        reason = f"would be pod {len(running) + 1} on a node that takes {node.allocatable[PODS]} pods"
        found.append(Refusal(kind="resource", subject=PODS, reason=reason))
    return tuple(found)


def taint_refusals(pod: Pod, node: Node) -> tuple[Refusal, ...]:
    """Return the taints that the pod does not tolerate."""
    return tuple(
        Refusal(kind="taint", subject=taint.key, reason=f"does not tolerate the taint {taint}")
        for taint in node.taints
        if taint.effect in HARD_EFFECTS and not any(one.tolerates(taint) for one in pod.tolerations)
    )


def label_refusals(pod: Pod, node: Node) -> tuple[Refusal, ...]:
    """Return the labels that the pod requires and the node lacks; for an affinity, those of its nearest term."""
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
                    wanted="".join(requirement.values[:1]),
                    reason=f"needs a node with {requirement}",
                )
                # The last of equals: charts list the label that people set after those that are discovered.
                for requirement in min(reversed(missing), key=len)
            )
    return tuple(found)


def _label_reason(key: str, value: str, node: Node) -> str:
    has = f"the node has {key}={node.labels[key]}" if key in node.labels else "the node has no such label"
    return f"selects {key}={value}, but {has}"


def lands(daemonset: DaemonSet, node: Node) -> tuple[Refusal, ...]:
    """Return why the DaemonSet controller creates no pod for the node; empty where it does. It ignores resources."""
    return (*taint_refusals(daemonset.pod, node), *label_refusals(daemonset.pod, node))


def landing(daemonsets: Iterable[DaemonSet], node: Node) -> tuple[DaemonSet, ...]:
    """Return the DaemonSets that get a pod on the node."""
    return tuple(daemonset for daemonset in daemonsets if not lands(daemonset, node))
