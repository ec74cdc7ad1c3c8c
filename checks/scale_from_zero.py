"""Check that an empty pool gets its first node for a runner, and that the runner can run on it.

The check compares two nodes: the one that the autoscaler assumes (`gpu.kubernetes.template_node`) and the one that
joins the cluster (`gpu.kubernetes.node_group`). If the assumed node refuses the pod, the pool never starts. If the real
node refuses it, the autoscaler starts and deletes nodes forever. `checks.fit` checks CPU and memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from checks.fit import holds
from gpu.kubernetes.node_group import ACCELERATOR, real_node
from gpu.kubernetes.quantities import EPHEMERAL_STORAGE, GPU, format_amount
from gpu.kubernetes.scheduling import label_refusals, landing, lands, refusals, resource_refusals, taint_refusals
from gpu.kubernetes.taints import API_EFFECTS, HARD_EFFECTS
from gpu.kubernetes.template_node import LABEL_TAG, RESOURCE_TAG, TAINT_TAG, labels_of, template_node
from gpu.nearest import nearest
from gpu.verdict import Level, Verdict, error, ok, warning
from wiring import kubernetes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from back_ends.stack import Stack
    from gpu.kubernetes.daemonsets import DaemonSet
    from gpu.kubernetes.node_group import NodeGroupFacts
    from gpu.kubernetes.pods import Pod
    from gpu.kubernetes.scheduling import Node, Refusal
    from gpu.kubernetes.template_node import TemplateNode

CHECK: Final = "scale-from-zero"


def check(stack: Stack) -> Iterator[Verdict]:
    """Check the pod of each runner on each of its pools."""
    settings = stack.settings
    plugin, daemonsets = kubernetes.plugin_daemonset(settings), kubernetes.daemonsets(settings)
    for group in kubernetes.node_groups(stack):
        for path, runner in kubernetes.shared_nodes(stack).items():
            if group.name in runner.pools:
                yield from scale_from_zero(
                    path,
                    runner.pod,
                    group,
                    plugin=plugin,
                    autoscaler=settings.autoscaler is not None,
                    daemonsets=daemonsets,
                    fits=holds(runner.pod, group, daemonsets),
                )


def scale_from_zero(
    runner: str,
    pod: Pod,
    group: NodeGroupFacts,
    *,
    plugin: DaemonSet | None,
    autoscaler: bool,
    daemonsets: Sequence[DaemonSet] = (),
    fits: bool = True,
) -> list[Verdict]:
    """Check one runner's pod on one of its pools.

    Args:
        runner: the path of the runner.
        pod: the pod that requests the GPU.
        group: the pool.
        plugin: the device plugin; None where the stack has none.
        autoscaler: whether the stack has an autoscaler.
        daemonsets: all DaemonSets of the cluster.
        fits: whether `checks.fit` passes. Otherwise it reports the resources, and this check skips them.

    """
    real = real_node(group, group.first, zone=group.zones[0])
    on_real = [*_plugin(runner, plugin, group, real), *_real(runner, pod, group, real, fits=fits)]
    if not autoscaler:
        found = [*_unscaled(runner, group), *on_real] if group.min_size else list(_unscaled(runner, group))
        reason = f"{group.path} always has {group.min_size} nodes, and {runner} runs there"
        return found or ([ok(CHECK, runner, reason)] if fits else [])
    assumed = template_node(group)
    from_zero = group.min_size == 0
    found = [
        *(_assumed(runner, pod, group, assumed, daemonsets, fits=fits) if from_zero else ()),
        *on_real,
        *_ready_too_soon(group),
    ]
    if from_zero:
        found += [*_taint_gaps(group, assumed, real), *_miscounted(group, assumed, real)]
        if not any(verdict.level is Level.ERROR for verdict in found):
            found += _label_gaps(group, assumed, real)
    if found or not fits:
        return found
    reason = f"the autoscaler starts a {group.first.name} of {group.path}, which has the {pod.requests[GPU]} GPU for it"
    return [ok(CHECK, runner, reason, assumed.chain)]


def _unscaled(runner: str, group: NodeGroupFacts) -> Iterator[Verdict]:
    """Check a pool that nothing scales."""
    if group.min_size == 0:
        reason = f"{group.path} has min 0 and the stack has no autoscaler, so {runner} never gets a node"
        fix = f"add the autoscaler section, or set {group.path}.min to at least 1"
        yield error(CHECK, f"{group.path}.min", reason, fix)
    elif group.min_size < group.max_size:
        reason = f"without an autoscaler {group.path} stays at {group.min_size} nodes and never gets {group.max_size}"
        fix = f"add the autoscaler section, or set {group.path}.max to {group.min_size}"
        yield warning(CHECK, f"{group.path}.max", reason, fix)


def _plugin(runner: str, plugin: DaemonSet | None, group: NodeGroupFacts, real: Node) -> Iterator[Verdict]:
    """Check that the device plugin runs on the node; without it the node silently advertises no GPU."""
    if plugin is None:
        reason = "it requests a GPU, but the stack has no device plugin to advertise one"
        yield error(CHECK, runner, reason, "add the device-plugin section")
        return
    reasons = lands(plugin, real)
    if not reasons:
        return
    missing = [refusal for refusal in reasons if refusal.kind == "label"]
    if missing:
        subject, fix = f"{group.path}.labels", _label_fix(missing[0], group)
    else:
        subject = f"{group.path}.taints"
        fix = f"add tolerations for {', '.join(refusal.subject for refusal in reasons)} to {plugin.name}"
    reason = (
        f"{plugin.name} gets no pod on the nodes of {group.path}, so their GPUs are never advertised: it "
        f"{', '.join(refusal.reason for refusal in reasons)}"
    )
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
    others = [daemonset.pod for daemonset in landing(daemonsets, assumed.node)]
    reasons = [one for one in refusals(pod, assumed.node, others=others) if fits or one.kind != "resource"]
    if reasons:
        reason = (
            f"the autoscaler never starts a node of {group.path} for it: on the node that the autoscaler assumes, this "
            f"pod {', and '.join(refusal.reason for refusal in reasons)}"
        )
        fix = "; ".join(dict.fromkeys(_assumed_fix(refusal, pod, group) for refusal in reasons))
        dropped = (f"silently ignored: {dropped}" for dropped in assumed.dropped)
        yield error(CHECK, runner, reason, fix, (*assumed.chain, *dropped))


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


def _ready_too_soon(group: NodeGroupFacts) -> Iterator[Verdict]:
    if ACCELERATOR in group.labels:
        return
    model = group.first.gpu
    reason = (
        f"nodes of {group.path} lack the label {ACCELERATOR}, so the autoscaler treats a node as ready before its GPU "
        "is advertised, starts a second one, and may remember it as a node without a GPU"
    )
    fix = f"add the label {ACCELERATOR}: {model.label if model else 'nvidia-gpu'} to {group.path}"
    close = nearest(ACCELERATOR, group.labels)
    yield warning(CHECK, f"{group.path}.labels", reason, f"{fix} (it has {close})" if close else fix)


def _taint_gaps(group: NodeGroupFacts, assumed: TemplateNode, real: Node) -> Iterator[Verdict]:
    """Report taints that only one of the two nodes has."""
    subject, chain = f"{group.path}.taints", assumed.chain
    for taint in real.taints:
        if taint.effect in HARD_EFFECTS and taint not in assumed.node.taints:
            why = next((dropped for dropped in assumed.dropped if taint.key in dropped), "no tag states it")
            reason = (
                f"the autoscaler does not see the taint {taint} of {group.path} ({why}), so it starts GPU nodes for "
                "pods that cannot run on them"
            )
            fix = f"give the taint a value: {taint.key}={taint.value or 'true'}:{taint.effect}"
            yield warning(CHECK, subject, reason, fix, chain)
    for taint in assumed.node.taints:
        if taint not in real.taints:
            reason = f"a tag states the taint {taint}, but nodes of {group.path} do not have it"
            if taint.effect not in API_EFFECTS:
                reason += f"; the scheduler does not know the effect {taint.effect}"
            fix = f"write the tag {TAINT_TAG}{taint.key} like the node group's taint, or remove it"
            yield warning(CHECK, subject, reason, fix, chain)


def _label_gaps(group: NodeGroupFacts, assumed: TemplateNode, real: Node) -> Iterator[Verdict]:
    """Report labels that only a tag states: nodes start for pods that select one, but the pods cannot run there."""
    tagged = labels_of(group.asg_tags)
    for key in tagged:
        stated, has = assumed.node.labels[key], real.labels.get(key)
        if stated == has:
            continue
        reason = f"a tag states the label {key}={stated}, but nodes of {group.path} "
        reason += f"have {key}={has}" if has is not None else "do not have it"
        fix = f"write the tag {LABEL_TAG}{key} like the node group's label, or remove it"
        close = nearest(key, [label for label in real.labels if label not in tagged])
        fix += f" (nodes have {close}: {real.labels[close]})" if close else ""
        yield warning(CHECK, f"{group.path}.labels", reason, fix, assumed.chain)


def _miscounted(group: NodeGroupFacts, assumed: TemplateNode, real: Node) -> Iterator[Verdict]:
    """Compare the GPUs of both nodes: where GPUs are shared, the autoscaler knows their number only from a tag."""
    has, stated = real.allocatable[GPU], assumed.node.allocatable[GPU]
    if 0 < stated != has:
        subject = f"{group.path}.sharing" if group.sharing else f"{group.path}.instance-types"
        number = "more nodes than the jobs need" if stated < has else "fewer nodes than the jobs need"
        reason = (
            f"the autoscaler assumes {stated} {GPU} on a node of {group.path}, but the node has {has}; "
            f"it starts {number}"
        )
        yield warning(CHECK, subject, reason, _tag_fix(GPU, str(has), group), assumed.chain)


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
    fix = _tag_fix(refusal.subject, format_amount(refusal.subject, amount), group)
    fraction = refusal.subject == GPU and group.first.fractional
    return f"{fix} (EC2 counts the fraction of a GPU in {group.first.name} as 0)" if fraction else fix


def _real_fix(refusal: Refusal, group: NodeGroupFacts, real: Node) -> str:
    if refusal.kind == "taint":
        return _taint_fix(refusal, group)
    if refusal.kind == "label":
        return _label_fix(refusal, group)
    return f"request at most {real.allocatable[GPU]} {GPU}, or list types with more GPUs"


def _taint_fix(refusal: Refusal, group: NodeGroupFacts) -> str:
    return f"add a toleration for {refusal.subject} to the runner, or remove the taint from {group.path}"


def _label_fix(refusal: Refusal, group: NodeGroupFacts) -> str:
    close = nearest(refusal.subject, [key for key in group.labels if key != refusal.subject])
    has = f" (it has {close}: {group.labels[close]})" if close else ""
    return f"add the label {refusal.subject}: {refusal.wanted or 'VALUE'} to {group.path}{has}"


def _tag_fix(resource: str, value: str, group: NodeGroupFacts) -> str:
    tag, tags = f"{RESOURCE_TAG}{resource}", {**group.asg_tags, **group.tags}
    close = nearest(tag, tags)
    if close == tag:
        return f"the tag {tag} of {group.path} is {tags[tag]}; set it to {value}"
    return f"tag the node group of {group.path} with {tag}={value}{f' (it has {close}={tags[close]})' if close else ''}"


def _facts(real: Node) -> tuple[str, str]:
    return (
        f"a real node has the labels {_spelt(real.labels)}",
        f"a real node has the taints {', '.join(map(str, real.taints)) or 'none'}",
    )


def _spelt(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(labels.items()))
