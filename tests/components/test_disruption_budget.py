"""The budget that keeps EKS from evicting running jobs."""

from __future__ import annotations

import pytest

from components.kubernetes.disruption_budget import DisruptionBudget, DisruptionBudgetArgs
from components.kubernetes.namespaces import JOBS, RUNNERS
from tests.components.made import made, only
from tests.plan import stacks

pytestmark = pytest.mark.plan

BUDGET = "kubernetes:policy/v1:PodDisruptionBudget"


def test_no_pod_of_the_namespace_may_be_evicted() -> None:
    """An empty selector selects every pod, and no selector selects none. Only an integer works for runner pods."""
    plan = made(lambda here: DisruptionBudget("budget", DisruptionBudgetArgs(namespace="arc-runners"), here))
    spec = only(plan, BUDGET).inputs["spec"]

    assert spec == {"minAvailable": 1_000_000, "selector": {}, "unhealthyPodEvictionPolicy": "AlwaysAllow"}


@pytest.mark.parametrize(
    ("name", "namespaces"), [(stacks.STAGING, [RUNNERS]), ("examples/eks-arc.yaml", [RUNNERS, JOBS])]
)
def test_every_stack_with_scale_sets_protects_its_jobs(name: str, namespaces: list[str]) -> None:
    plan = stacks.planned(name)

    assert [budget.inputs["metadata"]["namespace"] for budget in plan.of(BUDGET)] == namespaces
    assert [
        group.name for group in plan.of("aws:eks/nodeGroup:NodeGroup") if "forceUpdateVersion" in group.inputs
    ] == []
