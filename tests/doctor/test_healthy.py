"""Tests of the checks of AWS and the cluster in a healthy world, with and without GPU nodes."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ops.doctor.examination import examine
from tests.doctor.chain import CLUSTER_CHECKS, made
from tests.doctor.healthy import (
    DAEMONSETS,
    IDENTITY,
    NODES,
    PLUGIN_PODS,
    RUNNER_PODS,
    RUNNERS,
    STACK,
    daemonset,
    healthy,
    items,
    system_node,
)
from tests.doctor.worlds import Question, asked, silent, world

pytestmark = pytest.mark.pure

NO_JOBS: dict[Question, Any] = {
    NODES: items(system_node()),
    DAEMONSETS: items(daemonset(0, 0)),
    PLUGIN_PODS: items(),
    RUNNERS: items(),
    RUNNER_PODS: items(),
}
"""The normal state without jobs."""


@pytest.mark.parametrize("changes", [pytest.param({}, id="one job"), pytest.param(NO_JOBS, id="no jobs")])
def test_every_link_of_a_healthy_cluster_works(changes: dict[Question, Any]) -> None:
    found = examine(world(STACK, {**healthy(), **changes}), CLUSTER_CHECKS)

    assert {link.check: (str(link.state), link.because) for link in found.links} == {
        one.name: ("ok", "") for one in CLUSTER_CHECKS
    }
    assert [one.seen for link in found.links for one in link.findings if str(one.level) != "ok"] == []


def states(answers: dict[Question, Any]) -> dict[str, tuple[str, str]]:
    found = examine(world(STACK, answers), CLUSTER_CHECKS)
    return {link.check: (str(link.state), link.because) for link in found.links}


def test_without_credentials_only_the_first_link_is_reported() -> None:
    answers = {**healthy(), IDENTITY: silent("", "there are no credentials of AWS")}

    assert states(answers) == {
        "aws-account": ("unanswered", "there are no credentials of AWS"),
        **{one.name: ("not checked", "aws-account") for one in CLUSTER_CHECKS[1:]},
    }


def test_the_checks_of_aws_run_if_the_cluster_cannot_be_reached() -> None:
    answers = {**healthy(), asked("cluster", "/version"): silent("", "the cluster cannot be reached")}
    found = states(answers)
    names = [one.name for one in CLUSTER_CHECKS]
    number = names.index("kubernetes-api")

    assert [found[name][0] for name in names[:number]] == ["ok"] * number
    assert found["kubernetes-api"] == ("unanswered", "the cluster cannot be reached")
    assert {found[name] for name in names[number + 1 :]} == {("not checked", "kubernetes-api")}


@pytest.mark.parametrize("system", ["aws", "cluster"])
def test_a_system_without_any_answer_is_never_a_fault_of_the_stack(system: str) -> None:
    answers = {key: silent("", "no answer") if key[0] == system else answer for key, answer in healthy().items()}

    assert "error" not in {state for state, _ in states(answers).values()}


HEALTHY: Final = healthy()


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(sorted(HEALTHY)), st.sampled_from([None, {}, [], {"items": [{}]}, {"items": None}, "text", 7]))
def test_an_answer_of_another_form_never_ends_the_examination(question: Question, answer: Any) -> None:
    assert next(iter(states({**HEALTHY, question: answer}))) == "aws-account"


def test_an_existing_cluster_has_no_system_nodes_and_no_endpoint_of_the_stack() -> None:
    stack = "examples/eks-existing-cluster.yaml"
    name = world(stack, {}).stack.cluster_name
    cluster = {"name": name, "status": "ACTIVE", "version": "1.35", "resourcesVpcConfig": {}}
    answers = {
        asked("aws", "eks.describe_cluster", name=name): {"cluster": cluster},
        NODES: items(),
    }

    assert made("eks-cluster", answers, stack) == []
    assert made("nodes", answers, stack) == []
