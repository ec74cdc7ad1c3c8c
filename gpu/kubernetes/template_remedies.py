"""What to change where a node of a pool refuses a pod: the label, the taint or the tag, by name.

Owns the wording alone, with the misspelt tag or label that was probably meant. Who refuses what is decided elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu.kubernetes.node_group import ZONE, real_node
from gpu.kubernetes.quantities import EPHEMERAL_STORAGE, GPU, SHARED_GPU, format_amount
from gpu.kubernetes.sharing import gpu_resource
from gpu.kubernetes.template_node import LABEL_TAG, RESOURCE_TAG
from gpu.nearest import nearest

if TYPE_CHECKING:
    from gpu.kubernetes.node_group import NodeGroupFacts
    from gpu.kubernetes.pods import Pod
    from gpu.kubernetes.scheduling import Node, Refusal
    from gpu.kubernetes.template_node import Autoscaler


def imagined_remedy(refusal: Refusal, pod: Pod, group: NodeGroupFacts, autoscaler: Autoscaler) -> str:
    """What to do where the node that the autoscaler imagines refuses the pod."""
    if refusal.kind == "label":
        return _label_remedy(refusal, group, autoscaler)
    if refusal.kind == "taint":
        return f"let the runner tolerate {refusal.subject}, or take the taint off {group.path}"
    if refusal.subject in {GPU, SHARED_GPU, EPHEMERAL_STORAGE} or "/" in refusal.subject:
        machine = group.first
        amount = real_node(group, machine, zone=group.zones[0]).allocatable[refusal.subject]
        if refusal.subject in {GPU, SHARED_GPU} and amount < pod.requests[refusal.subject]:
            return f"ask for at most {amount} {refusal.subject}, or list a type with more GPUs first"
        value = format_amount(refusal.subject, amount)
        why = ""
        if refusal.subject == GPU and machine.fractional:
            why = f" (EC2 counts the fraction of a GPU in {machine.name} as 0)"
        if refusal.subject == SHARED_GPU:
            why = " (the autoscaler knows only nvidia.com/gpu by itself)"
        return _with_typo(f"{RESOURCE_TAG}{refusal.subject}", value, group, autoscaler) + why
    return f"ask for less {refusal.subject}, or list a larger type first"


def _label_remedy(refusal: Refusal, group: NodeGroupFacts, autoscaler: Autoscaler) -> str:
    if refusal.subject == ZONE:
        return f"list {refusal.wanted} first in {group.path}.zones: the autoscaler looks at the first zone only"
    if not autoscaler.describes_node_groups:
        return (
            _with_typo(f"{LABEL_TAG}{refusal.subject}", refusal.wanted or "VALUE", group, autoscaler)
            + ", or let the autoscaler call eks:DescribeNodegroup"
        )
    close = nearest(refusal.subject, [key for key in group.labels if key != refusal.subject])
    stated = f" (it has {close}: {group.labels[close]})" if close else ""
    return f"label {group.path} {refusal.subject}: {refusal.wanted or 'VALUE'}{stated}"


def _with_typo(tag: str, value: str, group: NodeGroupFacts, autoscaler: Autoscaler) -> str:
    """How to state a tag, and which of those that are there was probably meant to be it."""
    there = {**group.asg_tags, **(group.tags if autoscaler.describes_node_groups else {})}
    where = "the node group" if autoscaler.describes_node_groups else "the auto-scaling group"
    close = nearest(tag, there)
    if close == tag:
        return f"the tag {tag} of {group.path} is {there[tag]}; it has to be {value}"
    return f"tag {where} of {group.path} with {tag}={value}" + (f" (it has {close}={there[close]})" if close else "")


def real_remedy(refusal: Refusal, group: NodeGroupFacts, real: Node) -> str:
    """What to do where the node that really joins refuses the pod."""
    if refusal.kind == "taint":
        return f"let the runner tolerate {refusal.subject}, or take the taint off {group.path}"
    if refusal.kind == "label":
        close = nearest(refusal.subject, [key for key in group.labels if key != refusal.subject])
        stated = f" (it has {close}: {group.labels[close]})" if close else ""
        return f"label {group.path} {refusal.subject}: {refusal.wanted or 'VALUE'}{stated}"
    other = gpu_resource(group.sharing)
    if refusal.subject != other:
        return f"ask for {other}: that is what the nodes of {group.path} offer"
    return f"ask for at most {real.allocatable[refusal.subject]} {refusal.subject}, or list types with more GPUs"
