"""The greatest flow, held against a library's."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu.kubernetes.flow import greatest, reached

pytestmark = pytest.mark.pure

NODES = "abcdef"
GRAPHS = st.dictionaries(
    st.sampled_from(NODES), st.dictionaries(st.sampled_from(NODES), st.integers(0, 20), max_size=5), max_size=6
).map(
    lambda graph: {
        before: {node: cap for node, cap in after.items() if node != before} for before, after in graph.items()
    }
)


def library(graph: dict[str, dict[str, int]]) -> nx.DiGraph[str]:
    made: nx.DiGraph[str] = nx.DiGraph()
    made.add_nodes_from(NODES)
    for before, after in graph.items():
        for node, capacity in after.items():
            made.add_edge(before, node, capacity=capacity)
    return made


@settings(max_examples=150)
@given(GRAPHS)
def test_as_much_flows_as_can(graph: dict[str, dict[str, int]]) -> None:
    flow = greatest(graph, "a", "f")
    out = sum(flow.get("a", {}).values()) - sum(after.get("a", 0) for after in flow.values())

    assert out == nx.maximum_flow_value(library(graph), "a", "f")


@settings(max_examples=100)
@given(GRAPHS)
def test_no_edge_carries_more_than_it_takes_and_nothing_is_lost_on_the_way(graph: dict[str, dict[str, int]]) -> None:
    flow = greatest(graph, "a", "f")
    for node in NODES[1:-1]:
        arrived = sum(after.get(node, 0) for after in flow.values())
        assert arrived == sum(flow.get(node, {}).values())

    assert all(flow[before][node] <= capacity for before, after in graph.items() for node, capacity in after.items())


@settings(max_examples=60)
@given(GRAPHS, st.sampled_from(NODES))
def test_what_is_reached_is_what_a_library_reaches(graph: dict[str, dict[str, int]], start: str) -> None:
    assert reached(graph, start) == nx.descendants(library(graph), start) | {start}


def test_of_several_greatest_flows_it_is_the_one_along_what_is_stated_first() -> None:
    graph = {"jobs": {"one": 1, "two": 1}, "one": {"pool": 1}, "two": {"pool": 1}, "pool": {"nodes": 1}}

    assert greatest(graph, "jobs", "nodes")["jobs"] == {"one": 1, "two": 0}
