"""The order of creation and deletion: the plans follow each law, and each explicit dependency has one."""

from __future__ import annotations

import functools

import networkx as nx
import pytest

from ops.plan.model import Plan
from ops.plan.recorder import record
from tests.ops.small import plan
from tests.ops.small import planned as one_planned
from tests.plan import order, stacks
from tests.plan.laws import edges

pytestmark = pytest.mark.plan

SMOKE = "examples/eks-arc.yaml with a smoke test"
NAMES = (*stacks.NAMES, SMOKE)


@functools.cache
def planned(name: str) -> Plan:
    """Return the plan of a committed stack, or of one with the options that none has."""
    if name != SMOKE:
        return stacks.planned(name)
    return record(
        stacks.changed("examples/eks-arc.yaml", "smoke-test", lambda section: section.update({"on-up": True}))
    )


@functools.cache
def broken(name: str) -> tuple[tuple[str, str, bool], ...]:
    """Return every explicit dependency that keeps an order, and whether a law is violated without it."""
    made = planned(name)
    graph, laws = edges(made), {(urn, needed) for _, urn, needed in order.applied(made)}
    found = []
    for urn, needed in order.explicit(made):
        graph.remove_edge(urn, needed)
        if not nx.has_path(graph, urn, needed):
            found.append((urn, needed, not all(nx.has_path(graph, *pair) for pair in laws)))
        graph.add_edge(urn, needed)
    return tuple(found)


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_follows_every_law_of_order(name: str) -> None:
    assert list(order.violations(planned(name))) == []


def test_a_missing_dependency_is_reported_with_its_reason() -> None:
    cluster = one_planned("aws:eks/cluster:Cluster", "cluster")
    logs = one_planned("aws:cloudwatch/logGroup:LogGroup", "logs")

    assert list(order.violations(plan(cluster, logs))) == [
        (
            f"log-group-before-the-cluster: {cluster.urn} does not wait for {logs.urn}: "
            "EKS creates a group that never expires, and the declared one then exists already"
        )
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_without_one_explicit_dependency_violates_a_law(name: str) -> None:
    assert [f"{urn} → {needed}" for urn, needed, violates in broken(name) if not violates] == []


@pytest.mark.parametrize("name", stacks.NAMES)
def test_a_redundant_explicit_dependency_belongs_to_a_group(name: str) -> None:
    """A program may name a whole component, or all resources of a type, although one of them implies another."""
    made = planned(name)
    by_urn = {resource.urn: resource for resource in made}
    kept: dict[str, list[str]] = {}
    for urn, needed, _ in broken(name):
        kept.setdefault(urn, []).append(needed)
    needless = [
        f"{urn} → {needed}"
        for urn, needed in order.explicit(made)
        if needed not in kept.get(urn, ())
        and not any(
            by_urn[other].type == by_urn[needed].type
            or by_urn[other].parent == by_urn[needed].parent != by_urn[urn].parent
            for other in kept.get(urn, ())
        )
    ]

    assert needless == []


def test_each_law_applies_to_a_plan_and_has_a_source() -> None:
    used = {law.name for name in NAMES for law in order.ORDERS if any(order.pairs(planned(name), law))}

    assert used == {law.name for law in order.ORDERS}
    assert all(law.reason and law.source for law in order.ORDERS)
