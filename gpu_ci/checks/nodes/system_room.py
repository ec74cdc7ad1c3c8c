"""Check that the system nodes have room for their pods: add-ons, controllers, and a listener for each runner.

A listener without a node never asks GitHub for a job, so the jobs of its runner wait forever. The check fills one node
after the other, the largest pods first. It ignores preferences for spreading.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from gpu_ci.back_ends.stack import Stack
from gpu_ci.checks.nodes.fit import place
from gpu_ci.derived import kubernetes
from gpu_ci.knowledge.kubernetes.daemonsets import DaemonSet
from gpu_ci.knowledge.kubernetes.node_group import NodeGroupFacts
from gpu_ci.knowledge.kubernetes.pods import SystemPods
from gpu_ci.knowledge.kubernetes.quantities import CPU, MEMORY, PODS, Resources, describe
from gpu_ci.knowledge.verdict import Verdict, error, ok, warning

CHECK: Final = "system-room"


def check(stack: Stack) -> Iterator[Verdict]:
    """Check the system nodes."""
    group = kubernetes.system_nodes(stack)
    if group is not None:
        pods, daemonsets = tuple(kubernetes.system_pods(stack)), kubernetes.daemonsets(stack.settings)
        yield system_room(group, pods, daemonsets, grows=stack.settings.autoscaler is not None)


def system_room(
    group: NodeGroupFacts, pods: Sequence[SystemPods], daemonsets: Sequence[DaemonSet] = (), *, grows: bool
) -> Verdict:
    """Check the group on the type with the least room; `grows` is whether an autoscaler starts more nodes."""
    nodes = group.max_size if grows else group.min_size
    rooms = [(machine.name, place(group, machine, daemonsets).left) for machine in group.machines]
    always = sorted((_Kind.of(one, one.copies) for one in pods), reverse=True)
    # Pods that come and go with jobs are placed after those that always run.
    busy = [*always, *sorted((_Kind.of(one, one.jobs) for one in pods), reverse=True)]
    for verdict, kinds, when in ((error, always, ""), (warning, busy, " while every runner has its jobs")):
        least = max((_packed(name, room, kinds, nodes) for name, room in rooms), key=lambda one: one.needed)
        if least.needed > nodes:
            has = "has" if nodes == 1 else "have"
            reason = f"{nodes} x {least.machine} {has} no room for {least.pending}{when}"
            return verdict(CHECK, group.path, reason, _fix(least, grows=grows))
    count = sum(kind.copies for kind in busy)
    return ok(CHECK, group.path, f"{count} system pods fit on {least.needed} of {nodes} x {least.machine}")


_Amounts: TypeAlias = tuple[int, int, int]
"""Memory, CPU and pods."""

_NEVER: Final = 10**6
"""The number of nodes where a pod fits on none of them."""


def _amounts(resources: Resources) -> _Amounts:
    return resources[MEMORY], resources[CPU], resources[PODS]


@dataclass(frozen=True, slots=True, order=True)
class _Kind:
    """Equal pods, ordered by size."""

    wanted: _Amounts
    name: str
    copies: int

    @classmethod
    def of(cls, pods: SystemPods, copies: int) -> _Kind:
        return cls(wanted=_amounts(pods.pod.requests.with_amount(PODS, 1)), name=pods.name, copies=copies)

    def on(self, room: _Amounts) -> int:
        """Return how many copies fit into the room of a node."""
        return max(0, min(have // want for have, want in zip(room, self.wanted, strict=True) if want))

    def out_of(self, room: _Amounts, copies: int) -> _Amounts:
        """Return the room that some copies leave."""
        memory, cpu, pods = self.wanted
        return room[0] - copies * memory, room[1] - copies * cpu, room[2] - copies * pods


@dataclass(frozen=True, slots=True, kw_only=True)
class _Packed:
    """The result for one instance type."""

    machine: str
    room: Resources
    needed: int
    """The number of nodes that all pods need."""
    pending: str
    """The pods without room on the existing nodes."""


def _packed(machine: str, room: Resources, kinds: Sequence[_Kind], nodes: int) -> _Packed:
    """Fill one node after the other with the first pods that fit."""
    whole = _amounts(room)
    waiting = [kind for kind in kinds if kind.copies]
    pending = _listed(kind for kind in waiting if not kind.on(whole))
    needed = _NEVER if pending else 0
    while waiting and needed < _NEVER:
        needed += 1
        free, rest = whole, []
        for kind in waiting:
            taken = min(kind.copies, kind.on(free))
            free = kind.out_of(free, taken)
            if taken < kind.copies:
                rest.append(replace(kind, copies=kind.copies - taken))
        waiting = rest
        if needed == nodes:
            pending = _listed(waiting)
    return _Packed(machine=machine, room=room, needed=needed, pending=pending)


def _fix(packed: _Packed, *, grows: bool) -> str:
    if packed.needed == _NEVER:
        left = [describe(name, max(0, packed.room[name])) for name in (CPU, MEMORY, PODS)]
        return f"use a larger type: a {packed.machine} has {left[0]}, {left[1]} of memory and room for {left[2]} left"
    return f"raise system-nodes.{'max' if grows else 'min'} to {packed.needed}, or use a larger type"


def _listed(kinds: Iterable[_Kind]) -> str:
    """Join names, for example `2 x CoreDNS, metrics-server and 11 more`."""
    found = list(kinds)
    shown = [f"{kind.copies} x {kind.name}" if kind.copies > 1 else kind.name for kind in found[:3]]
    more = sum(kind.copies for kind in found[3:])
    return " and ".join(filter(None, [", ".join(shown), f"{more} more" if more else ""]))
