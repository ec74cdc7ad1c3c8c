"""Tests of answers of another form than expected: they are reported for one link, and the others are still checked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ops.doctor.chain import CHECKS
from ops.doctor.examination import State, examine
from ops.doctor.world.world import SYSTEMS, World
from tests.doctor.worlds import world

pytestmark = pytest.mark.pure

WORLDS = {
    file: world(file, {})
    for file in ("examples/vm-aws.yaml", "examples/cirun-gcp.yaml", "examples/jarvis.yaml", "examples/eks-arc.yaml")
}
KEYS = st.sampled_from(
    ["runners", "items", "Account", "status", "name", "workflow_runs", "jobs", "quotas", "resources", "cluster"]
)
FORMS: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=6,
)
"""Answers of any form."""


class Same:
    """A system that gives one answer to every question."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def ask(self, _call: str, /, **_arguments: Any) -> Any:
        """Return the answer."""
        return self._answer


def answering(file: str, answer: Any) -> World:
    """Return a world in which every system gives one answer."""
    known = WORLDS[file]
    sources = {system: Same(answer) for system in SYSTEMS}
    return World(stack=known.stack, now=known.now, repository="example-org/vision", **sources)


@given(st.sampled_from(sorted(WORLDS)), FORMS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_answer_of_any_form_ends_the_examination(file: str, answer: Any) -> None:
    found = examine(answering(file, answer), CHECKS)

    assert found.links


def test_an_answer_of_another_form_is_reported_for_its_link() -> None:
    found = examine(answering("examples/vm-aws.yaml", {"Account": "1"}), CHECKS)

    (first, *_) = found.links
    assert (first.check, first.state) == ("aws-account", State.UNANSWERED)
    assert first.because == "an answer has another form (KeyError('Arn'))"
    assert first.fix == "report it with the bundle that BUNDLE=x.tar.gz writes"
