"""Whether an empty pool gets its first node for a runner, and whether the runner can then run there.

Two nodes are compared: the one that the autoscaler imagines (`gpu.kubernetes.template_node`) and the one that really joins
(`gpu.kubernetes.node_group`). The runner has to go to both. Where only the imagined one refuses it, the pool never starts; where
only the real one does, nodes are bought and thrown away for ever. How the two differ otherwise is `gpu.kubernetes.template_gaps`;
how much CPU and memory a real node gives is `checks.fit`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu.kubernetes.node_group import ZONE, real_node
from gpu.kubernetes.quantities import GPU, SHARED_GPU
from gpu.kubernetes.scheduling import label_refusals, landing, lands, refusals, resource_refusals, taint_refusals
from gpu.kubernetes.sharing import gpu_resource
from gpu.kubernetes.template_gaps import CHECK, gaps, untrue_labels
from gpu.kubernetes.template_node import template_node
from gpu.kubernetes.template_remedies import imagined_remedy, real_remedy
from gpu.nearest import nearest
from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gpu.kubernetes.daemonsets import DaemonSet
    from gpu.kubernetes.node_group import NodeGroupFacts
    from gpu.kubernetes.pods import Pod
    from gpu.kubernetes.scheduling import Node
    from gpu.kubernetes.template_node import Autoscaler


def scale_from_zero(
    runner: str,
    pod: Pod,
    group: NodeGroupFacts,
    *,
    plugin: DaemonSet | None,
    autoscaler: Autoscaler | None,
    daemonsets: Sequence[DaemonSet] = (),
    fits: bool = True,
) -> list[Verdict]:
    """Judge one runner's pod on its pool.

    `plugin` is the device plugin, none where the stack has none; `autoscaler` likewise; `daemonsets` are the others
    that run on the nodes. Where the pod is known not to fit, `checks.fit` has said so with its way out, and what is said
    of it here is told apart from room: one mistake, one verdict.
    """
    if autoscaler is None:
        still = f"{group.path} always has its {group.min_size} nodes, and {runner} runs there"
        found = list(_without_autoscaler(runner, pod, group, plugin, fits=fits))
        return found or _holds(runner, still, fits=fits)
    zone = next((value for key, value in pod.node_selector if key == ZONE and value in group.zones), group.zones[0])
    real = real_node(group, group.first, zone=zone)
    believed = template_node(group, autoscaler)
    found = [
        *_plugin(runner, pod, group, plugin, real),
        *(_imagined(runner, pod, group, autoscaler, daemonsets, fits=fits) if group.min_size == 0 else ()),
        *_in_vain(runner, pod, group, real, fits=fits),
        *gaps(pod, group, autoscaler, believed, real),
    ]
    if group.min_size == 0 and not any(verdict.level is Level.ERROR for verdict in found):
        # Where the runner itself asks for the label, its own verdict has named the tag.
        found += untrue_labels(group, believed, real)
    if found:
        return found
    asked = pod.requests[gpu_resource(group.sharing)]
    reason = f"the autoscaler starts a {group.first.name} of {group.path} for it, and its {asked} GPU is found there"
    return _holds(runner, reason, believed.chain, fits=fits)


def _holds(runner: str, reason: str, chain: tuple[str, ...] = (), *, fits: bool) -> list[Verdict]:
    """All is well, unless that is not known of a pod that does not fit."""
    return [Verdict(check=CHECK, level=Level.OK, subject=runner, reason=reason, chain=chain)] if fits else []


def _without_autoscaler(
    runner: str, pod: Pod, group: NodeGroupFacts, plugin: DaemonSet | None, *, fits: bool
) -> Iterator[Verdict]:
    if group.min_size == 0:
        yield Verdict(
            check=CHECK,
            level=Level.ERROR,
            subject=f"{group.path}.min",
            reason=f"{group.path} has no nodes (min 0) and the stack has no autoscaler, so {runner} never gets one",
            fix=f"add the autoscaler section, or set {group.path}.min to at least 1",
        )
        return
    real = real_node(group, group.first, zone=group.zones[0])
    yield from _plugin(runner, pod, group, plugin, real)
    yield from _in_vain(runner, pod, group, real, fits=fits)
    if group.min_size < group.max_size:
        yield Verdict(
            check=CHECK,
            level=Level.WARNING,
            subject=f"{group.path}.max",
            reason=f"nothing moves {group.path} from min {group.min_size} to max {group.max_size}: no autoscaler",
            fix=f"add the autoscaler section, or set {group.path}.max to {group.min_size}",
        )


def _plugin(runner: str, pod: Pod, group: NodeGroupFacts, plugin: DaemonSet | None, real: Node) -> Iterator[Verdict]:
    """Without the device plugin on the node no GPU is ever advertised, and nothing says so."""
    if not pod.requests.names & {GPU, SHARED_GPU}:
        return
    if plugin is None:
        yield Verdict(
            check=CHECK,
            level=Level.ERROR,
            subject=runner,
            reason="it asks for a GPU, and the stack has no device plugin to advertise one",
            fix="add the device-plugin section",
        )
        return
    reasons = lands(plugin, real)
    if not reasons:
        return
    missing = [refusal for refusal in reasons if refusal.kind == "label"]
    close = nearest(missing[0].subject, group.labels) if missing else None
    if missing:
        fix = f"label the nodes of {group.path} {missing[0].subject}: {missing[0].wanted or 'true'}"
        fix += f" (they have {close}: {group.labels[close]})" if close else ""
    else:
        fix = f"let {plugin.name} tolerate {', '.join(refusal.subject for refusal in reasons)}"
    yield Verdict(
        check=CHECK,
        level=Level.ERROR,
        subject=f"{group.path}.labels" if missing else f"{group.path}.taints",
        reason=f"{plugin.name} gets no pod on the nodes of {group.path}, so their GPUs are never advertised: it "
        + ", ".join(refusal.reason for refusal in reasons),
        fix=fix,
        chain=(f"a real node has the labels {_spelt(real.labels)}",),
    )


def _imagined(
    runner: str,
    pod: Pod,
    group: NodeGroupFacts,
    autoscaler: Autoscaler,
    daemonsets: Sequence[DaemonSet],
    *,
    fits: bool,
) -> Iterator[Verdict]:
    believed = template_node(group, autoscaler)
    beside = [daemonset.pod for daemonset in landing(daemonsets, believed.node)]
    reasons = [one for one in refusals(pod, believed.node, others=beside) if fits or one.kind != "resource"]
    if reasons:
        yield Verdict(
            check=CHECK,
            level=Level.ERROR,
            subject=runner,
            reason=f"the autoscaler never starts a node of {group.path} for it, because on the node that it "
            f"imagines this pod {', and '.join(refusal.reason for refusal in reasons)}",
            fix="; ".join(dict.fromkeys(imagined_remedy(refusal, pod, group, autoscaler) for refusal in reasons)),
            chain=(*believed.chain, *(f"passed over in silence: {dropped}" for dropped in believed.dropped)),
        )


def _in_vain(runner: str, pod: Pod, group: NodeGroupFacts, real: Node, *, fits: bool) -> Iterator[Verdict]:
    """What the real node refuses, room apart."""
    reasons = [
        *taint_refusals(pod, real),
        *label_refusals(pod, real),
        *(refusal for refusal in resource_refusals(pod, real) if fits and refusal.subject in {GPU, SHARED_GPU}),
    ]
    if reasons:
        yield Verdict(
            check=CHECK,
            level=Level.ERROR,
            subject=runner,
            reason=f"a node of {group.path} is of no use to it, because there this pod "
            f"{', and '.join(refusal.reason for refusal in reasons)}; each node that is bought for it is wasted",
            fix="; ".join(dict.fromkeys(real_remedy(refusal, group, real) for refusal in reasons)),
            chain=(
                f"a real node has the labels {_spelt(real.labels)}",
                f"a real node has the taints {', '.join(map(str, real.taints)) or 'none'}",
            ),
        )


def _spelt(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(labels.items()))
