"""Every committed stack lives its whole life on the real engine, and plan and engine agree about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ops.engine import rehearsal
from ops.engine.rehearsal_change import one_added, one_more
from tests.plan import stacks

if TYPE_CHECKING:
    from ops.engine.pulumi_cli import Found

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("name", stacks.NAMES)
def test_a_committed_stack_lives_its_whole_life(cli: Found, name: str) -> None:
    """The faults of the second life are left to one stack: they cost as much as the whole first life."""
    done = rehearsal.rehearse(cli, stacks.stack_file(name), faults=name == stacks.STAGING)

    assert {phase.name: phase.findings for phase in done.phases if phase.findings} == {}


def test_a_change_touches_little() -> None:
    change = one_more(stacks.stack_file(stacks.STAGING), stacks.planned(stacks.STAGING))
    assert change is not None

    assert change.said.split(" ")[0].endswith(".max")
    assert (0 < len(change.updated) < 5, change.created, change.deleted) == (True, frozenset(), frozenset())


def test_what_is_added_takes_nothing_away() -> None:
    change = one_added(stacks.stack_file(stacks.STAGING), stacks.planned(stacks.STAGING))
    assert change is not None

    assert (len(change.created) > 0, change.deleted) == (True, frozenset())
