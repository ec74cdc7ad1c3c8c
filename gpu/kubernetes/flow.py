"""The greatest flow through a graph of a few hundred nodes: how much of what is wanted reaches what there is.

Grows along shortest paths (Edmonds and Karp, 1972) in the order in which edges are stated, so that of several greatest
flows it is always the same one. Ours, because the library that has it takes longer to load than a stack to judge.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Edges: TypeAlias = "Mapping[str, Mapping[str, int]]"
"""From each node to each that follows on it, with how much the edge takes, or carries."""


def greatest(capacities: Edges, source: str, sink: str) -> dict[str, dict[str, int]]:
    """What each edge carries when as much as can be goes from `source` to `sink`."""
    left = {node: dict(after) for node, after in capacities.items()}
    for before, ways in capacities.items():
        for node in ways:
            left.setdefault(node, {}).setdefault(before, 0)
    while path := _shortest(left, source, sink):
        room = min(left[before][after] for before, after in path)
        for before, after in path:
            left[before][after] -= room
            left[after][before] += room
    # Where there is a way back as well, only the difference of the two is carried.
    return {
        before: {node: max(0, capacity - left[before][node]) for node, capacity in ways.items()}
        for before, ways in capacities.items()
    }


def reached(edges: Mapping[str, Iterable[str]], start: str) -> set[str]:
    """Every node that a way leads to from `start`, itself among them."""
    found, waiting = {start}, deque([start])
    while waiting:
        for node in edges.get(waiting.popleft(), ()):
            if node not in found:
                found.add(node)
                waiting.append(node)
    return found


def _shortest(left: Edges, source: str, sink: str) -> list[tuple[str, str]]:
    """The edges of a shortest way on which there is room; none where there is no such way."""
    came_from = {source: source}
    waiting = deque([source])
    while waiting and sink not in came_from:
        before = waiting.popleft()
        for node, room in left.get(before, {}).items():
            if room > 0 and node not in came_from:
                came_from[node] = before
                waiting.append(node)
    if sink not in came_from:
        return []
    path = [sink]
    while path[-1] != source:
        path.append(came_from[path[-1]])
    return [(path[index + 1], path[index]) for index in reversed(range(len(path) - 1))]
