"""Where the autoscaler's idea of a node and the real node differ without stopping the runner itself.

Owns the warnings: a taint that only one of the two has, a GPU that is counted wrongly, a node that is held to be ready
too soon. A taint that the EKS API would not take at all is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu.kubernetes.node_group import ACCELERATOR, EFFECTS
from gpu.kubernetes.quantities import GPU, SHARED_GPU
from gpu.kubernetes.scheduling import KEEPS_AWAY
from gpu.kubernetes.sharing import gpu_resource
from gpu.kubernetes.template_node import LABEL_TAG, RESOURCE_TAG, TAINT_TAG, labels_of, passing
from gpu.nearest import nearest
from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu.kubernetes.node_group import NodeGroupFacts
    from gpu.kubernetes.pods import Pod
    from gpu.kubernetes.scheduling import Node
    from gpu.kubernetes.template_node import Autoscaler, TemplateNode

CHECK = "scale-from-zero"


def gaps(
    pod: Pod, group: NodeGroupFacts, autoscaler: Autoscaler, believed: TemplateNode, real: Node
) -> Iterator[Verdict]:
    """Every difference that matters; those of the imagined node only where there is one, with a minimum of 0."""
    yield from _unspeakable_taints(group)
    yield from _readiness(pod, group)
    if group.min_size == 0:
        yield from _unseen_taints(group, autoscaler, believed, real)
        yield from _untrue_taints(group, believed, real)
        yield from _miscounted(group, believed, real)


def _unspeakable_taints(group: NodeGroupFacts) -> Iterator[Verdict]:
    for taint in group.taints:
        if taint.effect not in EFFECTS:
            meant = next((api for api, effect in EFFECTS.items() if effect == taint.effect), None)
            meant = meant or nearest(taint.effect, EFFECTS) or "NO_SCHEDULE"
            yield Verdict(
                check=CHECK,
                level=Level.ERROR,
                subject=f"{group.path}.taints",
                reason=f"{taint.effect} of the taint {taint.key} is no effect of the EKS API",
                fix=f"write {meant}",
            )


def _unseen_taints(
    group: NodeGroupFacts, autoscaler: Autoscaler, believed: TemplateNode, real: Node
) -> Iterator[Verdict]:
    """A taint that the autoscaler does not see lets it buy GPU nodes for any pod that waits somewhere."""
    for taint in real.taints:
        if taint.effect not in KEEPS_AWAY or taint in believed.node.taints or passing(taint.key, autoscaler):
            continue
        why = next((dropped for dropped in believed.dropped if taint.key in dropped), "no tag states it")
        value = taint.value or "true"
        fix = (
            f"give the taint a value: {taint.key}={value}:{taint.effect}"
            if autoscaler.describes_node_groups
            else f"tag the auto-scaling group of {group.path} with {TAINT_TAG}{taint.key}={value}:{taint.effect}, "
            "or let the autoscaler call eks:DescribeNodegroup"
        )
        yield Verdict(
            check=CHECK,
            level=Level.WARNING,
            subject=f"{group.path}.taints",
            reason=f"the autoscaler does not see the taint {taint} of {group.path} ({why}), so it starts GPU nodes for "
            "pods that can never run on them",
            fix=fix,
            chain=believed.chain,
        )


def _untrue_taints(group: NodeGroupFacts, believed: TemplateNode, real: Node) -> Iterator[Verdict]:
    """A taint that only a tag states: the autoscaler holds back nodes that would do."""
    for taint in believed.node.taints:
        if taint in real.taints:
            continue
        readable = taint.effect in EFFECTS.values()
        yield Verdict(
            check=CHECK,
            level=Level.WARNING,
            subject=f"{group.path}.taints",
            reason=f"a tag tells the autoscaler of the taint {taint}, and nodes of {group.path} do not have it"
            + ("" if readable else f"; {taint.effect} is no effect that the scheduler knows"),
            fix=f"spell the tag {TAINT_TAG}{taint.key} as the node group's taint, or take it away",
            chain=believed.chain,
        )


def untrue_labels(group: NodeGroupFacts, believed: TemplateNode, real: Node) -> Iterator[Verdict]:
    """A label that only a tag states: nodes are started for pods that ask for it, and they find it nowhere."""
    for key in labels_of(group.asg_tags):
        thought, true = believed.node.labels[key], real.labels.get(key)
        if thought == true:
            continue
        close = nearest(key, [label for label in real.labels if label not in labels_of(group.asg_tags)])
        yield Verdict(
            check=CHECK,
            level=Level.WARNING,
            subject=f"{group.path}.labels",
            reason=f"a tag tells the autoscaler of the label {key}={thought}, and nodes of {group.path} "
            + (f"have it as {true}" if true is not None else "do not have it"),
            fix=f"spell the tag {LABEL_TAG}{key} as the node group's label, or take it away"
            + (f" (nodes have {close}: {real.labels[close]})" if close else ""),
            chain=believed.chain,
        )


def _readiness(pod: Pod, group: NodeGroupFacts) -> Iterator[Verdict]:
    if not pod.requests.names & {GPU, SHARED_GPU}:
        return
    if ACCELERATOR not in group.labels:
        close = nearest(ACCELERATOR, group.labels)
        model = group.first.gpu
        yield Verdict(
            check=CHECK,
            level=Level.WARNING,
            subject=f"{group.path}.labels",
            reason=f"nodes of {group.path} lack the label {ACCELERATOR}, so the autoscaler holds one to be ready "
            "before its GPU is advertised and starts a second, and may remember it as a node without a GPU",
            fix=f"label {group.path} {ACCELERATOR}: {model.label if model else 'nvidia-gpu'}"
            + (f" (it has {close})" if close else ""),
        )
    elif gpu_resource(group.sharing) == SHARED_GPU:
        yield Verdict(
            check=CHECK,
            level=Level.WARNING,
            subject=f"{group.path}.sharing",
            reason=f"nodes of {group.path} offer {SHARED_GPU} and never {GPU}, for which the label {ACCELERATOR} makes "
            "the autoscaler wait: it holds them to be unready for ever",
            fix=f"do not rename the shared resource, so that it stays {GPU}",
        )


def _miscounted(group: NodeGroupFacts, believed: TemplateNode, real: Node) -> Iterator[Verdict]:
    """With sharing, how many jobs a node takes is nothing that the autoscaler can know by itself."""
    resource = gpu_resource(group.sharing)
    true = real.allocatable[resource]
    thought = believed.node.allocatable[resource]
    if 0 < thought != true:
        yield Verdict(
            check=CHECK,
            level=Level.WARNING,
            subject=f"{group.path}.sharing" if group.sharing else f"{group.path}.instance-types",
            reason=f"the autoscaler believes that a node of {group.path} has {thought} {resource} where it has "
            f"{true}, so "
            + ("it starts more nodes than the jobs need" if thought < true else "it starts fewer than they need"),
            fix=f"tag the node group of {group.path} with {RESOURCE_TAG}{resource}={true}",
            chain=believed.chain,
        )
