"""Jobs that find room on nodes are never said to find none; a pool's nodes are had by one job or by another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from gpu.kubernetes.quantities import CPU, GPU, MEMORY, PODS, Resources
from gpu.kubernetes.room import Jobs, Nodes, shortages

pytestmark = pytest.mark.pure

SPOT, STEADY = "gpu-pools.spot", "gpu-pools.steady"
SIZES = st.tuples(st.integers(1, 4), st.integers(1, 8), st.integers(1, 8))
"""GPUs, CPU and memory."""


def resources(size: tuple[int, int, int], pods: int) -> Resources:
    gpus, cpu, memory = size
    return Resources.of({GPU: gpus, CPU: cpu, MEMORY: memory, PODS: pods})


def copies(wanted: Resources, left: Resources) -> int:
    return min(left[name] // amount for name, amount in wanted.amounts)


def jobs(name: str, count: int, size: tuple[int, int, int], pools: dict[str, Nodes]) -> Jobs:
    wanted = resources(size, 1)
    return Jobs(
        path=name, count=count, wanted=wanted, copies={path: copies(wanted, pool.left) for path, pool in pools.items()}
    )


@given(st.data(), st.lists(SIZES, min_size=1, max_size=3), st.integers(0, 3), st.integers(0, 3))
@hypothesis(max_examples=150)
def test_whatever_stands_on_nodes_has_room(
    data: st.DataObject, kinds: list[tuple[int, int, int]], spot: int, steady: int
) -> None:
    whole = resources((8, 16, 16), 10)
    pools = {path: Nodes(path=path, count=count, left=whole) for path, count in ((SPOT, spot), (STEADY, steady))}
    standing = dict.fromkeys(range(len(kinds)), 0)
    for _ in range(spot + steady):
        left = whole
        for kind in data.draw(st.lists(st.integers(0, len(kinds) - 1), max_size=6)):
            wanted = resources(kinds[kind], 1)
            if copies(wanted, left):
                left -= wanted
                standing[kind] += 1

    assert (
        shortages([jobs(f"runners.{kind}", count, kinds[kind], pools) for kind, count in standing.items()], pools) == []
    )


def test_the_resource_that_ends_first_is_the_one_that_is_told() -> None:
    pools = {SPOT: Nodes(path=SPOT, count=2, left=resources((8, 16, 16), 10))}
    (short,) = shortages([jobs("runners.a", 5, (1, 8, 1), pools), jobs("runners.b", 1, (1, 8, 1), pools)], pools)

    assert (short.resource, short.wanted, short.got) == (CPU, 48, 32)
    assert sum(short.missing.values()) == 2
    assert short.nodes == {SPOT: 1}


def test_nobody_who_wants_nothing_is_short() -> None:
    pools = {SPOT: Nodes(path=SPOT, count=1, left=resources((1, 1, 1), 1))}

    assert shortages([jobs("runners.a", 0, (1, 1, 1), pools)], pools) == []


def test_what_is_left_of_a_node_beside_whole_jobs_is_no_room() -> None:
    """Two runners with jobs of three cores, on nodes that leave five: one job a node, whichever's it is."""
    pools = {SPOT: Nodes(path=SPOT, count=4, left=resources((8, 5, 16), 10))}
    (short,) = shortages([jobs("runners.a", 3, (1, 3, 1), pools), jobs("runners.b", 3, (1, 3, 1), pools)], pools)

    assert {one.path for one in short.jobs} == {"runners.a", "runners.b"}
    assert sum(short.missing.values()) == 2
