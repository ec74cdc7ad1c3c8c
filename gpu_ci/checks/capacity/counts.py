"""Check that the numbers of nodes, GPUs and runners match.

Runners share pools and fall back from one pool to another. Therefore jobs are summed up per pool, then per pool and
fallback, then per runner. Each resource is summed up on its own, so a reported shortage exists however the scheduler
places the pods. `gpu_ci.checks.nodes.pool_shape` checks a pool on its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING, Final

from components.gpu_names import GPU
from gpu_ci.back_ends.offer import SharedNodes
from gpu_ci.back_ends.stack import Stack
from gpu_ci.checks.nodes.fit import place
from gpu_ci.derived import kubernetes
from gpu_ci.knowledge.kubernetes.daemonsets import DaemonSet
from gpu_ci.knowledge.kubernetes.node_group import NodeGroupFacts
from gpu_ci.knowledge.kubernetes.quantities import CPU, EPHEMERAL_STORAGE, GIB, MEMORY, PODS, Resources, describe
from gpu_ci.knowledge.verdict import Verdict, error, ok, warning

if TYPE_CHECKING:
    from gpu_ci.checks.nodes.fit import Place

CHECK: Final = "counts"
_RESOURCES: Final = (GPU, CPU, MEMORY, EPHEMERAL_STORAGE, PODS)
_SHOWN: Final = 4
"""The length up to which a list is printed in full."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pool:
    """A pool with its users."""

    group: NodeGroupFacts
    places: tuple[Place, ...]
    """A node of each instance type."""
    left: Resources
    """The resources that the DaemonSets leave on a node of any type."""
    runners: Mapping[str, SharedNodes]
    """The runners that may use it, by path."""
    copies: Mapping[str, int]
    """Jobs of each runner on one node, on the type with the least room. `gpu_ci.checks.nodes.fit` reports 0."""

    @property
    def first(self) -> dict[str, SharedNodes]:
        """The runners that try this pool first."""
        return {path: runner for path, runner in self.runners.items() if runner.pools[0] == self.group.name}


def check(stack: Stack) -> Iterator[Verdict]:
    """Check every pool together with the runners that may use it."""
    runners = kubernetes.shared_nodes(stack)
    yield from counts(kubernetes.node_groups(stack), runners, kubernetes.daemonsets(stack.settings))


def counts(
    groups: Sequence[NodeGroupFacts], runners: Mapping[str, SharedNodes], daemonsets: Sequence[DaemonSet] = ()
) -> Iterator[Verdict]:
    """Check every pool together with the runners that may use it."""
    pools = {group.name: _pool(group, runners, daemonsets) for group in groups}
    short = list(_shortages(runners, pools))
    yield from (verdict for _, verdict in short)
    reported = {name for names, _ in short for name in names}
    for name, pool in pools.items():
        found = [*_shares(pool), *_unused_gpus(pool), *_unused_nodes(pool)]
        yield from found
        if not found and name not in reported:
            yield _sound(pool)


def _pool(group: NodeGroupFacts, runners: Mapping[str, SharedNodes], daemonsets: Sequence[DaemonSet]) -> _Pool:
    places = tuple(place(group, machine, daemonsets) for machine in group.machines)
    users = {path: runner for path, runner in runners.items() if group.name in runner.pools}
    copies = {path: min(each.copies(runner.pod) for each in places) for path, runner in users.items()}
    left = [each.left for each in places]
    least = Resources.of({name: min(one[name] for one in left) for name in left[0].names})
    return _Pool(group=group, places=places, left=least, runners=users, copies=copies)


def _sound(pool: _Pool) -> Verdict:
    first = sum(runner.most for runner in pool.first.values())
    others = sum(runner.most for runner in pool.runners.values()) - first
    falling = f", and for {others} jobs that may fall back on it" if others else ""
    return ok(CHECK, pool.group.path, f"at most {pool.group.max_size} nodes for at most {first} jobs{falling}")


def _shares(pool: _Pool) -> Iterator[Verdict]:
    if pool.group.shares == 1:
        return
    for path, runner in pool.runners.items():
        requested = runner.pod.requests[GPU]
        if requested > 1:
            reason = f"it requests {requested} shares of a GPU, which gives it no more of the GPU than one"
            yield warning(CHECK, path, reason, "request one share")


def _unused_gpus(pool: _Pool) -> list[Verdict]:
    """Report GPUs, or shares of one, that stay idle on a node that is full of jobs, whichever runner's they are."""
    found: list[Verdict] = []
    for path, runner in pool.first.items():
        pod, copies = runner.pod, pool.copies[path]
        least = min(pool.places, key=lambda each, pod=pod: each.copies(pod))  # type: ignore[misc]  # bound here
        requested, offered = pod.requests[GPU], least.node.allocatable[GPU]
        if not copies or copies * requested == offered:
            return []
        name = least.machine.name
        reason = (
            f"only {copies * requested} of the {offered} {GPU} of a {name} can be used: "
            f"{copies} job{'s fill' if copies > 1 else ' fills'} the node"
        )
        fixes = _uses_all(path, pool, least, offered // requested)
        chain = (f"a {name} offers {offered} {GPU}, and a job requests {requested}",)
        found.append(warning(CHECK, path, reason, ", or ".join(fixes) or "use a larger type", chain))
    return found


def _uses_all(path: str, pool: _Pool, least: Place, jobs: int) -> Iterator[str]:
    """Return changes after which fewer GPUs stay idle: smaller jobs, where any are left, and fewer shares."""
    if pool.copies[path] == jobs:
        yield "request a number of GPUs that divides the node's"
        return
    requests = pool.runners[path].pod.requests
    cpu, memory = (min(requests[name], least.left[name] // jobs) // unit for name, unit in ((CPU, 1000), (MEMORY, GIB)))
    others = requests.names - {CPU, MEMORY}
    if cpu and memory and all(least.left[name] >= jobs * requests[name] for name in others):
        yield f"request cpu: {cpu} and memory: {memory}Gi"
    if pool.group.shares > 1:
        most = max(pool.copies[one] for one in pool.first) // least.machine.devices
        sharing = f"{pool.group.path}.sharing"
        yield f"lower {sharing}.replicas to {most}" if most > 1 else f"remove {sharing}"


def _unused_nodes(pool: _Pool) -> Iterator[Verdict]:
    if not all(pool.copies.values()):
        return
    path, most = pool.group.path, pool.group.max_size
    needed = sum(-(-runner.most // pool.copies[name]) for name, runner in pool.runners.items())
    if needed < most:
        reason = f"up to {most} nodes, but its runners can use at most {needed}"
        fix = f"set it to {needed}, or raise the runners' max" if needed else f"use {path} in a runner"
        yield warning(CHECK, f"{path}.max", reason, fix)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Jobs:
    """Jobs of one runner that run at the same time."""

    path: str
    count: int
    wanted: Resources
    """The resources of one job, including its place among the pods of a node."""
    pools: tuple[str, ...]
    alone: int
    """The number for which its pools have room while no other runner uses them."""


def _shortages(
    runners: Mapping[str, SharedNodes], pools: Mapping[str, _Pool]
) -> Iterator[tuple[tuple[str, ...], Verdict]]:
    """Report jobs without room, each runner once, with their pools; idle runners first, because those wait forever."""
    fitting = {
        path: runner for path, runner in runners.items() if all(pools[name].copies[path] for name in runner.pools)
    }
    reported: set[str] = set()
    for idle in (True, False):
        every = [
            _Jobs(
                path=path,
                count=count,
                wanted=runner.pod.requests.with_amount(PODS, 1),
                pools=runner.pools,
                alone=sum(pools[name].group.max_size * pools[name].copies[path] for name in runner.pools),
            )
            for path, runner in fitting.items()
            if (count := runner.idle_on_gpu if idle else runner.most)
        ]
        full: set[str] = set()
        for names, some in _contests(every, pools):
            jobs = [one for one in some if one.path not in reported]
            free = tuple(name for name in names if name not in full)
            verdict = _shortage(jobs, [pools[name] for name in free], idle=idle) if jobs and free else None
            if verdict is not None:
                reported |= {one.path for one in jobs}
                full |= set(free)
                yield free, verdict


def _contests(every: Sequence[_Jobs], pools: Mapping[str, _Pool]) -> Iterator[tuple[tuple[str, ...], list[_Jobs]]]:
    """Return sets of pools, each with all jobs that can run nowhere else."""
    pairs = {frozenset(one.pools): one.pools for one in every if len(one.pools) > 1}
    for names in (*((name,) for name in pools), *pairs.values()):
        yield names, [one for one in every if set(one.pools) <= set(names)]
    for one in every:
        yield one.pools, [one]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gap:
    """The difference between the jobs' requests and the room of pools, in one resource."""

    resource: str
    wanted: int
    room: int
    nodes: int
    """The number of nodes of the first pool that are missing."""


def _gap(jobs: Sequence[_Jobs], pools: Sequence[_Pool]) -> _Gap | None:
    """Return the gap in the resource of which most nodes are missing."""
    worst = None
    for resource in _RESOURCES:
        size = gcd(*(one.wanted[resource] for one in jobs))
        if not size:
            continue
        # Less than the smallest step between jobs is no room for any of them.
        per_node = [pool.left[resource] // size * size for pool in pools]
        room = sum(pool.group.max_size * node for pool, node in zip(pools, per_node, strict=True))
        wanted = sum(one.count * one.wanted[resource] for one in jobs)
        nodes = -(-(wanted - room) // per_node[0]) if wanted > room else 0
        if nodes > (worst.nodes if worst else 0):
            worst = _Gap(resource=resource, wanted=wanted, room=room, nodes=nodes)
    return worst


def _shortage(jobs: Sequence[_Jobs], pools: Sequence[_Pool], *, idle: bool) -> Verdict | None:
    gap = _gap(jobs, pools)
    if gap is None:
        return None
    first, each = pools[0].group, {one.wanted[gap.resource] for one in jobs}
    count, several = sum(one.count for one in jobs), len(jobs) > 1
    who = _listed([f"{one.path.removeprefix('runners.')} {one.count}" for one in jobs])
    what = f"{count} {'idle runners' if idle else 'jobs at most'}{f' ({who})' if several else ''}"
    where = f"{_listed([pool.group.path for pool in pools])} {'together have' if len(pools) > 1 else 'has'}"
    fits = gap.room // each.pop() if len(each) == 1 else None
    if fits is None:
        wanted, room = describe(gap.resource, gap.wanted), describe(gap.resource, gap.room)
        reason = f"{what} request {wanted}, but {where} {room}; some pods stay pending"
    else:
        pending = "1 pod stays" if count - fits == 1 else f"{count - fits} pods stay"
        reason = f"{what}, but {where} room for {fits}; {pending} pending"
    key = "min" if idle else "max"
    lower = f"lower the {key} of these runners" if several else f"lower its {key}"
    lower += "" if fits is None else f" to {fits} in total" if several else f" to {fits}"
    greedy = [one.path for one in jobs if one.count > one.alone]
    subject = greedy[0] if len(greedy) == 1 else f"{first.path}.max"
    chain = [
        f"one node of {pool.group.path} has room for {pool.copies[one.path]} jobs of {one.path}"
        for one in jobs
        for pool in pools
        if pool.group.name in one.pools
    ]
    fix = f"{lower}, or raise {first.path}.max to {first.max_size + gap.nodes}"
    return (error if idle else warning)(CHECK, subject, reason, fix, chain[:_SHOWN])


def _listed(names: Sequence[str]) -> str:
    """Join names, for example `a, b, c, d and 11 more`."""
    more = f"{len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    shown, last = names[:_SHOWN], more or names[-1]
    return f"{', '.join(shown if more else shown[:-1])} and {last}" if len(names) > 1 else last
