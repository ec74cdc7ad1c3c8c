"""One row of the table of add-ons is enough to create, order and count an add-on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.aws.cluster.add_on import AddOnRole
from gpu_ci.derived import kubernetes
from gpu_ci.knowledge.kubernetes import add_ons
from gpu_ci.knowledge.kubernetes.add_ons import ADD_ONS, AddOn
from gpu_ci.knowledge.kubernetes.daemonsets import DaemonSet
from gpu_ci.knowledge.kubernetes.pods import Pod, SystemPods
from gpu_ci.knowledge.kubernetes.quantities import CPU, Resources
from ops.plan.recorder import record
from tests.components.made import names, waits_for
from tests.plan.stacks import stack_file
from tests.stack_file import stacks
from tests.stack_file.stacks import STAGING

ADD_ON = "aws:eks/addon:Addon"
AGENT = AddOn(
    name="node-agent",
    versions={"1.35": "v1.0.0-eksbuild.1", "1.36": "v1.0.0-eksbuild.1"},
    section="monitoring.metrics-server",
    needs_nodes=True,
    role=AddOnRole(name="node-agent", service_account="agent", managed_policy="arn:aws:iam::aws:policy/ReadOnlyAccess"),
    node_pods=(DaemonSet(name="node-agent", pod=Pod(requests=Resources.of({CPU: 10}))),),
    system_pods=(SystemPods(name="the node agent", pod=Pod(requests=Resources.of({CPU: 20}))),),
)


@pytest.mark.plan
@pytest.mark.parametrize("needs_nodes", [True, False])
def test_a_new_row_creates_the_add_on_in_its_place(monkeypatch: pytest.MonkeyPatch, needs_nodes: bool) -> None:
    monkeypatch.setattr(add_ons, "ADD_ONS", (*ADD_ONS, replace(AGENT, needs_nodes=needs_nodes)))
    plan = record(stack_file(STAGING))
    name = f"{'cluster' if needs_nodes else 'node'}-add-ons-node-agent"
    agent, nodes = plan.one(ADD_ON, name), plan.one("aws:eks/nodeGroup:NodeGroup", "system-nodes")

    assert agent.inputs["addonVersion"] == AGENT.versions["1.35"]
    assert agent.inputs["podIdentityAssociations"][0]["serviceAccount"] == "agent"
    assert name in names(plan, "aws:iam/role:Role")
    assert waits_for(plan, agent, nodes) is needs_nodes
    assert waits_for(plan, nodes, agent) is not needs_nodes


@pytest.mark.pure
def test_a_new_row_counts_its_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(add_ons, "ADD_ONS", (*ADD_ONS, AGENT))
    running = kubernetes.add_ons(stacks.settings(STAGING))

    assert "node-agent" in {pods.name for add_on in running for pods in add_on.node_pods}
    assert "the node agent" in {pods.name for add_on in running for pods in add_on.system_pods}


@pytest.mark.pure
def test_names_of_add_ons_and_their_roles_are_unique() -> None:
    roles = [add_on.role.name for add_on in ADD_ONS if add_on.role]

    assert len({add_on.name for add_on in ADD_ONS}) == len(ADD_ONS)
    assert len(set(roles)) == len(roles)
