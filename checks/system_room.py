"""Whether the system nodes have room for what must run on them: DNS, the controllers, and a listener for each runner.

Owns the packing and its verdict. A listener that finds no room never asks GitHub for a job, and the jobs of its runner
wait as if there were no runner at all. Nodes are filled one after the other, with the largest pods first; what is
spread over nodes by preference alone is not held to be spread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from checks.fit import place
from gpu.kubernetes.quantities import CPU, MEMORY, PODS, describe
from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gpu.kubernetes.daemonsets import DaemonSet
    from gpu.kubernetes.node_group import NodeGroupFacts
    from gpu.kubernetes.pods import SystemPods
    from gpu.kubernetes.quantities import Resources

CHECK = "system-room"


def system_room(
    group: NodeGroupFacts, pods: Sequence[SystemPods], *, daemonsets: Sequence[DaemonSet] = (), grows: bool
) -> list[Verdict]:
    """Judge the group on the type that holds least; `grows` is whether anything starts nodes beyond its minimum."""
    nodes = group.max_size if grows else group.min_size
    rooms = [(machine.name, place(group, machine, daemonsets).left) for machine in group.machines]
    always = sorted((_Kind.of(one, one.copies) for one in pods), reverse=True)
    # What comes and goes with jobs finds there what always runs.
    busy = [*always, *sorted((_Kind.of(one, one.jobs) for one in pods), reverse=True)]
    for level, kinds, when in ((Level.ERROR, always, ""), (Level.WARNING, busy, " when every runner has its jobs")):
        packed = [_packed(name, room, kinds, nodes) for name, room in rooms]
        least = max(packed, key=lambda one: one.needed)
        if least.needed > nodes:
            reason = f"{nodes} x {least.machine} have no room for {least.left_out}{when}"
            return [_verdict(level, group, reason, _way_out(least, grows=grows))]
    count = sum(kind.copies for kind in busy)
    return [_verdict(Level.OK, group, f"{count} pods of the system fit on {least.needed} of {nodes} x {least.machine}")]


def _verdict(level: Level, group: NodeGroupFacts, reason: str, fix: str = "") -> Verdict:
    return Verdict(check=CHECK, level=level, subject=group.path, reason=reason, fix=fix)


_Amounts: TypeAlias = tuple[int, int, int]
"""Memory, CPU and pods."""

_NEVER: Final = 10**6
"""More nodes than there can be: what is needed of a type on which a pod does not fit at all."""


def _amounts(resources: Resources) -> _Amounts:
    return resources[MEMORY], resources[CPU], resources[PODS]


@dataclass(frozen=True, slots=True, order=True)
class _Kind:
    """Equal pods; of two kinds, the larger pod is the greater."""

    wanted: _Amounts
    name: str
    copies: int

    @classmethod
    def of(cls, pods: SystemPods, copies: int) -> _Kind:
        return cls(wanted=_amounts(pods.pod.requests.with_amount(PODS, 1)), name=pods.name, copies=copies)

    def on(self, room: _Amounts) -> int:
        """How many of it a node with that room takes."""
        return max(0, min(have // want for have, want in zip(room, self.wanted, strict=True) if want))

    def out_of(self, room: _Amounts, copies: int) -> _Amounts:
        """What so many of it leave of a node's room."""
        memory, cpu, pods = self.wanted
        return room[0] - copies * memory, room[1] - copies * cpu, room[2] - copies * pods


@dataclass(frozen=True, slots=True, kw_only=True)
class _Packed:
    """How many nodes of one type the pods need, and what stays outside of those that there are."""

    machine: str
    room: Resources
    needed: int
    left_out: str


def _packed(machine: str, room: Resources, kinds: Sequence[_Kind], nodes: int) -> _Packed:
    """Fill one node after the other with the first pods that it still takes."""
    whole = _amounts(room)
    waiting = [kind for kind in kinds if kind.copies]
    outside = _listed(kind for kind in waiting if not kind.on(whole))
    needed = _NEVER if outside else 0
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
            outside = _listed(waiting)
    return _Packed(machine=machine, room=room, needed=needed, left_out=outside)


def _way_out(packed: _Packed, *, grows: bool) -> str:
    if packed.needed == _NEVER:
        cpu, memory, pods = (packed.room[resource] for resource in (CPU, MEMORY, PODS))
        gives = f"{describe(CPU, cpu)} and {describe(MEMORY, memory)} left for {pods} pods"
        return f"take a larger type: {packed.machine} has {gives}"
    return f"raise system-nodes.{'max' if grows else 'min'} to {packed.needed}, or take a larger type"


def _listed(kinds: Iterable[_Kind]) -> str:
    """As in `2 x CoreDNS, metrics-server and 11 more`."""
    found = list(kinds)
    shown = [f"{kind.copies} x {kind.name}" if kind.copies > 1 else kind.name for kind in found[:3]]
    more = sum(kind.copies for kind in found[3:])
    return " and ".join(filter(None, [", ".join(shown), f"{more} more" if more else ""]))
