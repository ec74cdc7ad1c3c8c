"""A rehearsal of every committed stack."""

from __future__ import annotations

import pytest

from ops.engine import rehearsal
from ops.engine.pulumi_cli import Found
from ops.engine.rehearsal_change import added_element, changed_value
from tests.plan import stacks

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("name", stacks.NAMES)
def test_a_committed_stack_passes_its_rehearsal(cli: Found, name: str) -> None:
    """Only one stack has the second life, which takes as long as the first."""
    done = rehearsal.rehearse(cli, stacks.stack_file(name), faults=name == stacks.STAGING)

    assert {phase.name: phase.findings for phase in done.phases if phase.findings} == {}


def test_a_changed_value_updates_few_resources() -> None:
    change = changed_value(stacks.stack_file(stacks.STAGING), stacks.planned(stacks.STAGING))
    assert change is not None

    assert change.summary.split(" ")[0].endswith(".max")
    assert (0 < len(change.updated) < 5, change.created, change.deleted) == (True, frozenset(), frozenset())


def test_an_added_element_deletes_nothing() -> None:
    change = added_element(stacks.stack_file(stacks.STAGING), stacks.planned(stacks.STAGING))
    assert change is not None

    assert (len(change.created) > 0, change.deleted) == (True, frozenset())
