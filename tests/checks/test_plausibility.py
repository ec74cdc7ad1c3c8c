"""The check `plausibility`: values that are allowed, but seldom meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gpu_ci.back_ends.registry import stack_of
from gpu_ci.checks import plausibility
from gpu_ci.knowledge.verdict import Level
from gpu_ci.stack_file.identity import Identity
from tests.stack_file import stacks

pytestmark = pytest.mark.pure

POOL = "gpu-pools/t4-on-demand"


def found(changes: Mapping[str, Any]) -> list[tuple[Level, str, str]]:
    settings = stacks.settings(changes=changes)
    identity = Identity(project="gpu-ci", stack="staging", extra=settings.stack.tags)
    return [(one.level, one.subject, one.reason) for one in plausibility.check(stack_of(settings, identity))]


def test_a_usual_stack_gets_no_verdict() -> None:
    assert found({}) == []


def test_a_long_value_of_a_tag_is_cut_on_google_cloud() -> None:
    assert found({"stack/tags/Team": "x" * 63}) == []
    assert found({"stack/tags/Team": "x" * 64}) == [
        (Level.WARNING, "stack.tags.Team", "Google Cloud gets the first 63 of its 64 characters")
    ]


def test_an_administrator_of_another_account_gets_a_warning() -> None:
    assert found({"cluster/administrators/other": "arn:aws:iam::210987654321:role/x"}) == [
        (Level.WARNING, "cluster.administrators.other", "it is in the account 210987654321, not in 123456789012")
    ]


def test_a_viewer_of_another_account_gets_a_warning() -> None:
    assert found({"cluster/viewers": {"plan": "arn:aws:iam::210987654321:role/x"}}) == [
        (Level.WARNING, "cluster.viewers.plan", "it is in the account 210987654321, not in 123456789012")
    ]


def test_a_reserved_range_that_contains_services_gets_a_warning() -> None:
    reason = "pods cannot reach the addresses of 172.16.0.0/12 that are services in 172.20.0.0/16"

    assert found({"network/reserved/office": "172.16.0.0/12"}) == [(Level.WARNING, "network.reserved.office", reason)]


def test_an_open_endpoint_of_an_unprotected_stack_gets_a_warning() -> None:
    assert found({"cluster/endpoint/public": ["203.0.113.0/24", "0.0.0.0/0"]}) == [
        (Level.WARNING, "cluster.endpoint.public[1]", "0.0.0.0/0 exposes the API to the internet")
    ]


@pytest.mark.parametrize(("wildcard", "warned"), [("*", True), ("**", True), ("cache-*", False), ("*-dev", False)])
def test_a_wildcard_that_matches_every_tag_gets_a_warning(wildcard: str, warned: bool) -> None:
    reported = found({"ecr/runner-gpu/mutable-tags": ["a", wildcard]})

    assert [subject for _, subject, _ in reported] == (["ecr.runner-gpu.mutable-tags[1]"] if warned else [])


@pytest.mark.parametrize(("tag", "warned"), [("main", True), ("Nightly", True), ("1.0.0-main", False)])
def test_a_mutable_tag_gets_a_warning(tag: str, warned: bool) -> None:
    image = {"repository": "runner-gpu", "cuda": "12.9", "compressed": "5Gi", "tag": tag}

    assert bool(found({"images/runner-gpu": image})) == warned
    assert found({"images/runner-gpu": {**image, "digest": f"sha256:{'0' * 64}"}}) == []
    assert bool(found({"test-image/tag": tag})) == warned


@pytest.mark.parametrize(
    ("nightly", "runs"), [("17 3 * * *", 0), ("0 * * * *", 0), ("*/30 * * * *", 48), ("* * * * *", 1440)]
)
def test_a_schedule_of_more_than_every_hour_gets_a_warning(nightly: str, runs: int) -> None:
    reported = found({"gpu-tests/vision": {"nightly": nightly}})

    assert [reason.partition(" times")[0] for _, _, reason in reported] == ([f"the tests start {runs}"] if runs else [])


@pytest.mark.parametrize(("budget", "warned"), [({"expected": 5}, False), ({"expected": 5, "worst": 4}, True)])
def test_an_expected_budget_above_the_worst_gets_a_warning(budget: dict[str, int], warned: bool) -> None:
    assert [subject for _, subject, _ in found({"budget": budget})] == (["budget.expected"] if warned else [])


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"github/url": "https://github.com/enterprises/acme"}, "github.url"),
        ({"github/url": "https://github.com/acme/vision", "arc/runner-group": "gpu"}, "arc.runner-group"),
        ({"github/url": "https://github.com/acme/vision", "arc/runner-group": "default"}, ""),
        ({"github/url": "https://github.com/acme", "arc/runner-group": "gpu"}, ""),
        ({"images/spare": {"reference": "ghcr.io/acme/x", "tag": "1", "cuda": "12.9"}}, "images.spare"),
        ({"cirun/aws": True}, "cirun.aws"),
    ],
)
def test_a_statement_without_effect_gets_a_warning(changes: dict[str, Any], path: str) -> None:
    assert [(level, subject) for level, subject, _ in found(changes)] == ([(Level.WARNING, path)] if path else [])
