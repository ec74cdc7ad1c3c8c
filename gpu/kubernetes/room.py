"""Whether jobs find room on the pools that they may go to, where several runners share pools and fall back.

Owns the reckoning: runners and pools are a graph, and what can be placed is a flow from the one to the other. One flow
a resource, so what it says is too little is so however pods are laid on nodes; what is said of it is in `gpu.kubernetes.shortage`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING, Final

from gpu.kubernetes.flow import greatest, reached
from gpu.kubernetes.quantities import CPU, EPHEMERAL_STORAGE, GPU, MEMORY, PODS, SHARED_GPU, Resources

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gpu.kubernetes.flow import Edges

_RESOURCES: Final = (GPU, SHARED_GPU, CPU, MEMORY, EPHEMERAL_STORAGE, PODS)
_JOBS, _NODES = "jobs", "nodes"
"""Where the flow comes from and where it goes; a path in the stack file has a dot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """A pool as room: every node is reckoned as the type that holds least."""

    path: str
    """As in `gpu-pools.t4-spot`."""
    count: int
    left: Resources
    """What DaemonSets leave on one node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """Jobs of one runner that are there at once."""

    path: str
    """As in `runners.gpu-t4`."""
    count: int
    wanted: Resources
    """What one takes, its place among a node's pods included."""
    copies: Mapping[str, int]
    """How many find room alone on one node of each pool that they may go to, the first one first; none of them 0."""

    def alone(self, pools: Mapping[str, Nodes]) -> int:
        """How many find room where nobody else is."""
        return sum(pools[path].count * copies for path, copies in self.copies.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """Runners that share pools, and want more of them than there is."""

    jobs: tuple[Jobs, ...]
    pools: tuple[str, ...]
    """Every pool that they may go to."""
    resource: str
    """Of what there is too little."""
    wanted: int
    """Of that resource, by all of them."""
    got: int
    missing: Mapping[str, int]
    """Jobs without a place, by runner."""

    @property
    def alike(self) -> bool:
        """Whether each job asks for as much of the resource as the other."""
        return len({jobs.wanted[self.resource] for jobs in self.jobs}) == 1

    @property
    def nodes(self) -> dict[str, int]:
        """Nodes that would do, for each runner on the pool that it tries first."""
        missing: dict[str, int] = {}
        least: dict[str, int] = {}
        for jobs in self.jobs:
            first = next(iter(jobs.copies))
            if self.missing[jobs.path]:
                missing[first] = missing.get(first, 0) + self.missing[jobs.path]
                least[first] = min(least.get(first, jobs.copies[first]), jobs.copies[first])
        return {path: -(-count // least[path]) for path, count in missing.items()}


def shortages(every: Sequence[Jobs], pools: Mapping[str, Nodes]) -> list[Shortage]:
    """Where jobs find no place, each group of runners once, with the resource that ends first."""
    waiting = [jobs for jobs in every if jobs.count]
    found = [short for resource in _RESOURCES for short in _short_of(resource, waiting, pools)]
    told: set[str] = set()
    worst_first: list[Shortage] = []
    for short in sorted(found, key=lambda one: (-sum(one.missing.values()), one.jobs[0].path)):
        paths = {jobs.path for jobs in short.jobs}
        if paths.isdisjoint(told):
            told |= paths
            worst_first.append(short)
    return worst_first


def _short_of(resource: str, every: Sequence[Jobs], pools: Mapping[str, Nodes]) -> Iterator[Shortage]:
    asking = [jobs for jobs in every if jobs.wanted[resource]]
    graph = _graph(resource, asking, pools)
    flow = greatest(graph, _JOBS, _NODES)
    got = {jobs.path: flow[_JOBS][jobs.path] for jobs in asking}
    known = {jobs.path: jobs for jobs in asking}
    for runners in _starved(graph, flow):
        some = tuple(jobs for path, jobs in known.items() if path in runners)
        yield Shortage(
            jobs=some,
            pools=tuple(dict.fromkeys(path for jobs in some for path in jobs.copies)),
            resource=resource,
            wanted=sum(jobs.count * jobs.wanted[resource] for jobs in some),
            got=sum(got[jobs.path] for jobs in some),
            missing={jobs.path: jobs.count - got[jobs.path] // jobs.wanted[resource] for jobs in some},
        )


def _graph(resource: str, asking: Sequence[Jobs], pools: Mapping[str, Nodes]) -> dict[str, dict[str, int]]:
    """From the jobs to runners, on to the pools that they may go to, and to the nodes; with what each way takes."""
    graph: dict[str, dict[str, int]] = {_JOBS: {}}
    sizes: dict[str, int] = {}
    for jobs in asking:
        one = jobs.wanted[resource]
        graph[_JOBS][jobs.path] = jobs.count * one
        graph[jobs.path] = {path: pools[path].count * copies * one for path, copies in jobs.copies.items()}
        for path in jobs.copies:
            sizes[path] = gcd(sizes.get(path, 0), one)
    for path, size in sizes.items():
        # What is left of a node beside whole jobs is of no use to any of them.
        graph[path] = {_NODES: pools[path].count * (pools[path].left[resource] // size * size)}
    return graph


def _starved(graph: Edges, flow: Edges) -> Iterator[set[str]]:
    """Runners that keep each other's jobs waiting: those that want more, and those in whose place they could be."""
    residual: dict[str, list[str]] = {}
    for before, after in graph.items():
        for node, capacity in after.items():
            if flow[before][node] < capacity:
                residual.setdefault(before, []).append(node)
            if flow[before][node] and before != _JOBS:
                residual.setdefault(node, []).append(before)
    waiting = reached(residual, _JOBS)
    starved = [runner for runner in graph[_JOBS] if runner in waiting]
    # A pool ties together whoever may use it, even where none of them would gain by the others' giving way.
    ties: dict[str, list[str]] = {}
    for runner in starved:
        for path in graph[runner]:
            ties.setdefault(runner, []).append(path)
            ties.setdefault(path, []).append(runner)
    told: set[str] = set()
    for runner in starved:
        if runner not in told:
            group = reached(ties, runner) & set(starved)
            told |= group
            yield group
