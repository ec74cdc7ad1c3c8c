"""Every planted violation is refused, and every exception of the program is necessary."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gpu_ci.policy import rules
from gpu_ci.policy.needed import NEEDED, is_needed
from ops.plan.recorder import record
from tests.bootstrap import declared
from tests.plan import stacks
from tests.policy.planted import PLANTED

NAMES = {rules.rule_name(rule): rule for rule in rules.RULES}


@pytest.mark.pure
def test_a_planted_violation_is_refused() -> None:
    assert [
        (rule, type_, inputs)
        for rule, type_, inputs in PLANTED
        if rule not in {finding.rule for finding in rules.findings(type_, "planted", inputs)}
    ] == []


@pytest.mark.pure
def test_every_rule_has_a_planted_violation() -> None:
    assert {rule for rule, _, _ in PLANTED} == set(NAMES)


@pytest.mark.pure
def test_a_problem_of_a_violation_is_one_line_without_the_value_of_a_credential() -> None:
    problems = [(rule, type_, list(NAMES[rule](type_, "planted", inputs))) for rule, type_, inputs in PLANTED]

    assert [
        (rule, type_, found)
        for rule, type_, found in problems
        if not found or any("\n" in one or "AKIA" in one or "hunter2" in one for one in found)
    ] == []


@pytest.mark.pure
def test_every_exception_names_a_rule_and_has_a_reason() -> None:
    assert [one for one in NEEDED if one.rule not in NAMES or not one.reason] == []


@pytest.mark.plan
@pytest.mark.parametrize("needed", NEEDED, ids=lambda one: f"{one.rule} {one.name}")
def test_a_committed_stack_needs_every_exception(needed: Any) -> None:
    """An exception that no stack needs would hide a violation. No committed stack exports its host image."""
    bucket = {"export": {"bucket": "gpu-images-example"}}
    exporting = stacks.changed("examples/cirun-gcp.yaml", "host-image", lambda image: image.update(bucket))
    found = [
        resource.name
        for plan in (*map(stacks.planned, stacks.NAMES), record(exporting), declared.plan(*declared.BOTH))
        for resource in plan
        if resource.type == needed.type and re.fullmatch(needed.name, resource.name)
        if list(NAMES[needed.rule](resource.type, resource.name, resource.inputs))
    ]

    assert found


@pytest.mark.pure
def test_an_exception_covers_only_its_own_names() -> None:
    assert is_needed("namespaces-enforce-pod-security", "kubernetes:core/v1:Namespace", "gpu-metrics")
    assert not is_needed("namespaces-enforce-pod-security", "kubernetes:core/v1:Namespace", "gpu-metrics-two")
    assert not is_needed("pods-are-confined", "kubernetes:core/v1:Namespace", "gpu-metrics")
