"""Check that an empty pool gets its first node for a runner, and that the runner can run on it.

The check compares two nodes: the one that the autoscaler assumes (`gpu_ci.knowledge.kubernetes.template_node`) and the
one that joins the cluster (`gpu_ci.knowledge.kubernetes.node_group`). If the assumed node refuses the pod, the pool
never starts. If the real node refuses it, the autoscaler starts and deletes nodes forever. `gpu_ci.checks.nodes.fit`
checks CPU and memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from components.gpu_names import GPU
from gpu_ci.back_ends.stack import Stack
from gpu_ci.checks.nodes.fit import holds
from gpu_ci.derived import kubernetes
from gpu_ci.knowledge.kubernetes.daemonsets import DaemonSet
from gpu_ci.knowledge.kubernetes.node_group import NodeGroupFacts, real_node
from gpu_ci.knowledge.kubernetes.pods import Pod
from gpu_ci.knowledge.kubernetes.quantities import EPHEMERAL_STORAGE, format_amount
from gpu_ci.knowledge.kubernetes.scheduling import (
    Node,
    Refusal,
    label_refusals,
    landing,
    lands,
    refusals,
    resource_refusals,
    taint_refusals,
)
from gpu_ci.knowledge.kubernetes.template_node import RESOURCE_TAG, TemplateNode, template_node
from gpu_ci.knowledge.verdict import Verdict, error, ok

CHECK: Final = "scale-from-zero"
TAG_LIMIT: Final = 50
"""Tags of one auto-scaling group (Amazon EC2 Auto Scaling quotas, 2026)."""
OF_EKS: Final = 5
"""The tags that EKS adds: names of cluster and group, and three for the autoscaler and the cluster."""


def check(stack: Stack) -> Iterator[Verdict]:
    """Check the pod of each runner on each of its pools."""
    plugin, daemonsets = kubernetes.plugin_daemonset(stack.settings), kubernetes.daemonsets(stack.settings)
    for group in kubernetes.node_groups(stack):
        yield from _tags(group)
        for path, runner in kubernetes.shared_nodes(stack).items():
            if group.name in runner.pools:
                fits = holds(runner.pod, group, daemonsets)
                yield from scale_from_zero(path, runner.pod, group, plugin=plugin, daemonsets=daemonsets, fits=fits)


def _tags(group: NodeGroupFacts) -> Iterator[Verdict]:
    """Check the number of tags. Auto Scaling refuses more of them after the node group exists."""
    count = len(group.asg_tags) + OF_EKS
    if count > TAG_LIMIT:
        reason = (
            f"its auto-scaling group needs {count} tags, but the limit is {TAG_LIMIT}: {len(group.tags)} describe its "
            f"nodes to the autoscaler, {OF_EKS} are of EKS, and {len(group.asg_tags) - len(group.tags)} are in "
            "stack.tags"
        )
        yield error(CHECK, group.path, reason, "remove tags of the stack, or labels and taints of the pool")


def scale_from_zero(
    runner: str,
    pod: Pod,
    group: NodeGroupFacts,
    *,
    plugin: DaemonSet | None,
    daemonsets: Sequence[DaemonSet] = (),
    fits: bool = True,
) -> list[Verdict]:
    """Check one runner's pod on one of its pools.

    Args:
        runner: the path of the runner.
        pod: the pod that requests the GPU.
        group: the pool.
        plugin: the device plugin, which the section gpu-pools requires; None without such a section.
        daemonsets: all DaemonSets of the cluster.
        fits: whether `gpu_ci.checks.nodes.fit` passes. Otherwise it reports the resources, and this check skips them.

    """
    assumed, real = template_node(group), real_node(group, group.first, zone=group.zones[0])
    found = list(_real(runner, pod, group, real, fits=fits))
    if plugin is not None and group.first.gpu is not None:
        found = [*_plugin(plugin, group, real), *found]
    if group.min_size == 0:
        found = [*_assumed(runner, pod, group, assumed, daemonsets, fits=fits), *found]
    if found or not fits:
        return found
    gpus = f", which has the {pod.requests[GPU]} GPU for it" if pod.requests[GPU] else ""
    reason = f"the autoscaler starts a {group.first.name} of {group.path}{gpus}"
    if group.min_size == group.max_size:
        reason = f"{group.path} always has {group.min_size} nodes, and {runner} runs there"
    return [ok(CHECK, runner, reason, assumed.chain)]


def _plugin(plugin: DaemonSet, group: NodeGroupFacts, real: Node) -> Iterator[Verdict]:
    """Check that the device plugin runs on the node; without it the node silently advertises no GPU."""
    reasons = lands(plugin, real)
    if reasons:
        reason = (
            f"{plugin.name} gets no pod on the nodes of {group.path}, so their GPUs are never advertised: it "
            f"{', '.join(refusal.reason for refusal in reasons)}"
        )
        missing = [refusal for refusal in reasons if refusal.kind == "label"]
        subject = f"{group.path}.{'labels' if missing else 'taints'}"
        tolerations = ", ".join(refusal.subject for refusal in reasons)
        fix = _label_fix(missing[0], group) if missing else f"add tolerations for {tolerations} to {plugin.name}"
        yield error(CHECK, subject, reason, fix, _facts(real))


def _assumed(
    runner: str,
    pod: Pod,
    group: NodeGroupFacts,
    assumed: TemplateNode,
    daemonsets: Sequence[DaemonSet],
    *,
    fits: bool,
) -> Iterator[Verdict]:
    """Check the pod on the node that the autoscaler assumes."""
    others = [*assumed.pods, *(daemonset.pod for daemonset in landing(daemonsets, assumed.node))]
    reasons = [one for one in refusals(pod, assumed.node, others=others) if fits or one.kind != "resource"]
    if reasons:
        reason = (
            f"the autoscaler never starts a node of {group.path} for it: on the node that the autoscaler assumes, this "
            f"pod {', and '.join(refusal.reason for refusal in reasons)}"
        )
        fix = "; ".join(dict.fromkeys(_assumed_fix(refusal, pod, group) for refusal in reasons))
        yield error(CHECK, runner, reason, fix, assumed.chain)


def _real(runner: str, pod: Pod, group: NodeGroupFacts, real: Node, *, fits: bool) -> Iterator[Verdict]:
    """Check the pod's tolerations, selectors and GPUs on the real node."""
    gpus = (refusal for refusal in resource_refusals(pod, real) if fits and refusal.subject == GPU)
    reasons = [*taint_refusals(pod, real), *label_refusals(pod, real), *gpus]
    if reasons:
        reason = (
            f"it cannot run on a node of {group.path}, because this pod "
            f"{', and '.join(refusal.reason for refusal in reasons)}; each node that starts for it is wasted"
        )
        fix = "; ".join(dict.fromkeys(_real_fix(refusal, group, real) for refusal in reasons))
        yield error(CHECK, runner, reason, fix, _facts(real))


def _assumed_fix(refusal: Refusal, pod: Pod, group: NodeGroupFacts) -> str:
    if refusal.kind == "label":
        return _label_fix(refusal, group)
    if refusal.kind == "taint":
        return _taint_fix(refusal, group)
    if refusal.subject not in {GPU, EPHEMERAL_STORAGE}:
        return f"request less {refusal.subject}, or list a larger type first"
    amount = real_node(group, group.first, zone=group.zones[0]).allocatable[refusal.subject]
    if refusal.subject == GPU and amount < pod.requests[GPU]:
        return f"request at most {amount} {GPU}, or list a type with more GPUs first"
    tag = f"{RESOURCE_TAG}{refusal.subject}"
    return f"tag the Auto Scaling group of {group.path} with {tag}={format_amount(refusal.subject, amount)}"


def _real_fix(refusal: Refusal, group: NodeGroupFacts, real: Node) -> str:
    if refusal.kind == "taint":
        return _taint_fix(refusal, group)
    if refusal.kind == "label":
        return _label_fix(refusal, group)
    return f"request at most {real.allocatable[GPU]} {GPU}, or list types with more GPUs"


def _taint_fix(refusal: Refusal, group: NodeGroupFacts) -> str:
    return f"add a toleration for {refusal.subject} to the runner, or remove the taint from {group.path}"


def _label_fix(refusal: Refusal, group: NodeGroupFacts) -> str:
    return f"add the label {refusal.subject}: {refusal.wanted or 'VALUE'} to {group.path}"


def _facts(real: Node) -> tuple[str, str]:
    return (
        f"a real node has the labels {_spelt(real.labels)}",
        f"a real node has the taints {', '.join(map(str, real.taints)) or 'none'}",
    )


def _spelt(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(labels.items()))
