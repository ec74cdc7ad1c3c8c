"""Whether the numbers of pools and of their runners go together.

Owns the arithmetic of nodes, GPUs, shares and runners, over all pools at once: runners share them, and fall back. How
jobs find room is `gpu.kubernetes.room`, what is said where they do not is `gpu.kubernetes.shortage`, what surprises in a pool by itself is
`checks.pool_shape`, and what a share is, is `gpu.kubernetes.sharing`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from checks.fit import place
from checks.pool_shape import pool_shape
from gpu.kubernetes.quantities import CPU, GIB, MEMORY, PODS, Resources
from gpu.kubernetes.room import Jobs, Nodes, shortages
from gpu.kubernetes.sharing import gpu_resource
from gpu.kubernetes.shortage import Key, told_of
from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from checks.fit import Place
    from gpu.kubernetes.daemonsets import DaemonSet
    from gpu.kubernetes.node_group import NodeGroupFacts
    from gpu.kubernetes.pods import Pod

CHECK = "counts"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerFacts:
    """A runner scale set on its pools."""

    path: str
    """Where the stack file states it, as in `runners.gpu-t4`."""
    pools: tuple[str, ...]
    """The pools whose nodes it may get, as in `gpu-pools.t4-spot`: the one that is tried first, and its fall-back."""
    pod: Pod
    """What one job takes on a GPU node."""
    min_runners: int
    """Idle runners that stand on GPU nodes."""
    max_runners: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pool:
    """A pool, what its nodes have, and who uses it."""

    group: NodeGroupFacts
    places: tuple[Place, ...]
    runners: tuple[RunnerFacts, ...]
    """Those that may get its nodes."""
    copies: Mapping[str, int]
    """How many jobs of each find room on one node of the type that holds least; 0 is for `checks.fit` to tell."""

    @property
    def first(self) -> tuple[RunnerFacts, ...]:
        """Those that try it first."""
        return tuple(runner for runner in self.runners if runner.pools[0] == self.group.path)

    def room(self) -> Nodes:
        """Its nodes, each with what every type leaves."""
        left = [each.left for each in self.places]
        least = {name: min(one[name] for one in left) for name in left[0].names}
        return Nodes(path=self.group.path, count=self.group.max_size, left=Resources.of(least))


def counts(
    groups: Sequence[NodeGroupFacts], runners: Sequence[RunnerFacts], *, daemonsets: Sequence[DaemonSet] = ()
) -> list[Verdict]:
    """Judge every pool together with every runner."""
    pools = {group.path: _pool(group, runners, daemonsets) for group in groups}
    found = {
        path: [*pool_shape(pool.group, behind=_behind(pool)), *_uses(pool), *_idle_nodes(pool)]
        for path, pool in pools.items()
    }
    for short, verdict in _room(runners, pools):
        for path in short:
            found[path].append(verdict)
    unordered = [
        _verdict(
            Level.ERROR,
            runner.path,
            f"min {runner.min_runners} is more than max {runner.max_runners}",
            f"set min to at most {runner.max_runners}",
        )
        for runner in runners
        if runner.min_runners > runner.max_runners
    ]
    judged = [verdict for path, pool in pools.items() for verdict in found[path] or (_sound(pool),)]
    return list(dict.fromkeys((*unordered, *judged)))


def _pool(group: NodeGroupFacts, runners: Sequence[RunnerFacts], daemonsets: Sequence[DaemonSet]) -> _Pool:
    places = tuple(place(group, machine, daemonsets) for machine in group.machines)
    users = tuple(runner for runner in runners if group.path in runner.pools)
    copies = {runner.path: min(each.copies(runner.pod) for each in places) for runner in users}
    return _Pool(group=group, places=places, runners=users, copies=copies)


def _behind(pool: _Pool) -> tuple[str, ...]:
    """Where everybody who tries the pool first goes next."""
    if not pool.first or any(len(runner.pools) == 1 for runner in pool.first):
        return ()
    return tuple(dict.fromkeys(path for runner in pool.first for path in runner.pools[1:]))


def _sound(pool: _Pool) -> Verdict:
    first = sum(runner.max_runners for runner in pool.first)
    others = sum(runner.max_runners for runner in pool.runners) - first
    reason = f"{pool.group.max_size} nodes at most for {first} jobs at most"
    falling = f", and for {others} that may fall back on it" if others else ""
    return Verdict(check=CHECK, level=Level.OK, subject=pool.group.path, reason=f"{reason}{falling}")


def _verdict(level: Level, subject: str, reason: str, fix: str, chain: tuple[str, ...] = ()) -> Verdict:
    return Verdict(check=CHECK, level=level, subject=subject, reason=reason, fix=fix, chain=chain)


def _uses(pool: _Pool) -> Iterator[Verdict]:
    resource = gpu_resource(pool.group.sharing)
    for runner in pool.runners:
        yield from _shares(runner, pool.group, runner.pod.requests[resource])
    yield from _unused(pool, resource)


def _shares(runner: RunnerFacts, group: NodeGroupFacts, asked: int) -> Iterator[Verdict]:
    if group.sharing is None or asked < 2:
        return
    refused = group.sharing.refuses_several
    yield _verdict(
        Level.ERROR if refused else Level.WARNING,
        runner.path,
        f"it asks for {asked} shares of a GPU, "
        + ("which the device plugin refuses" if refused else "which gives it no more of the GPU than one"),
        "ask for one",
    )


def _unused(pool: _Pool, resource: str) -> Iterator[Verdict]:
    """GPUs, or shares of one, that stay idle on a node that is full of jobs, whichever runner's they are."""
    found: list[Verdict] = []
    for runner in pool.first:
        copies, asked = pool.copies[runner.path], runner.pod.requests[resource]
        least = min(pool.places, key=lambda each, pod=runner.pod: each.copies(pod))  # type: ignore[misc]  # bound here
        offered = least.node.allocatable[resource]
        if not copies or copies * asked == offered:
            return
        reason = (
            f"only {copies * asked} of the {offered} {resource} of a {least.machine.name} can be used: "
            f"{copies} job{'s fill' if copies > 1 else ' fills'} the node"
        )
        ways = ", or ".join(_using_all(runner, pool, least, offered // asked)) or "take a larger type"
        chain = (f"{least.machine.name} offers {offered} {resource}, and a job asks for {asked}",)
        found.append(_verdict(Level.WARNING, runner.path, reason, ways, chain))
    yield from found


def _using_all(runner: RunnerFacts, pool: _Pool, least: Place, jobs: int) -> Iterator[str]:
    """What would leave less idle: smaller jobs, where those would be jobs at all, and fewer shares."""
    if pool.copies[runner.path] == jobs:
        yield "ask for a number of GPUs that divides the node's"
        return
    asked = runner.pod.requests
    cpu, memory = (min(asked[name], least.left[name] // jobs) // unit for name, unit in ((CPU, 1000), (MEMORY, GIB)))
    if cpu and memory and all(least.left[name] >= jobs * asked[name] for name in asked.names - {CPU, MEMORY}):
        yield f"ask for cpu: {cpu} and memory: {memory}Gi"
    if pool.group.sharing is not None:
        most = max(pool.copies[one.path] for one in pool.first) // least.machine.devices
        path = f"{pool.group.path}.sharing"
        yield f"lower {path}.replicas to {most}" if most > 1 else f"leave {path} out"


def _idle_nodes(pool: _Pool) -> Iterator[Verdict]:
    if not all(pool.copies.values()):
        return
    path, most = pool.group.path, pool.group.max_size
    needed = sum(-(-runner.max_runners // pool.copies[runner.path]) for runner in pool.runners)
    if needed < most:
        yield _verdict(
            Level.WARNING,
            f"{path}.max",
            f"up to {most} nodes, and its runners can use {needed} at most",
            f"set it to {needed}, or raise the runners' max" if needed else f"let a runner name {path}",
        )


def _room(runners: Sequence[RunnerFacts], pools: Mapping[str, _Pool]) -> Iterator[tuple[tuple[str, ...], Verdict]]:
    """What finds no room, with the pools concerned: what is kept idle waits for ever, so it is told first."""
    nodes = {path: pool.room() for path, pool in pools.items()}
    fitting = [runner for runner in runners if all(pools[path].copies[runner.path] for path in runner.pools)]
    told: set[str] = set()
    for level, key in ((Level.ERROR, Key.MIN), (Level.WARNING, Key.MAX)):
        jobs = [
            Jobs(
                path=runner.path,
                count=runner.min_runners if key is Key.MIN else runner.max_runners,
                wanted=runner.pod.requests.with_amount(PODS, 1),
                copies={path: pools[path].copies[runner.path] for path in runner.pools},
            )
            for runner in fitting
        ]
        for short in shortages(jobs, nodes):
            paths = {one.path for one in short.jobs}
            if paths.isdisjoint(told):
                told |= paths
                yield short.pools, told_of(short, nodes, level, key)
