"""What would shorten the wait for a runner, what it costs a month, and where it is no help.

Owns the levers and their conditions; when parallel pulling works is known in `gpu.machines.queue_steps`. Every lever is a key of
the stack file: what has none there (a warm pool, an image of one's own for the nodes) is not named.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from gpu.machines.queue_steps import BackEnd, no_fast_image_pull, queue_wait

if TYPE_CHECKING:
    from gpu.machines.queue_steps import QueueFacts
    from gpu.machines.start_up import Wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Lever:
    """One thing that could be changed."""

    name: str
    change: str
    """What to write in the stack file."""
    month: Decimal | None
    """What it costs to have it for a month with one node; none where no price is known."""
    after: Wait | None
    """The wait with it; none where it is no help."""
    hindrance: str = ""
    """Why it is no help."""


def levers(facts: QueueFacts) -> tuple[Lever, ...]:
    """Everything that could be done for a runner on a pool, what changes least first."""
    if facts.back_end is BackEnd.CIRUN or facts.min_runners:
        return ()
    nothing = Decimal(0)
    node = facts.node_month
    return (
        _lever(
            facts,
            "pulling in parallel",
            f"set {facts.pool}.fast-image-pull: true",
            nothing,
            replace(facts, fast_image_pull=True),
            "it is on already" if facts.fast_image_pull else no_fast_image_pull(facts),
        ),
        _lever(
            facts,
            "a node that stays",
            f"set {facts.pool}.min: 1",
            node,
            replace(facts, min_nodes=1),
            "one stays already" if facts.min_nodes else "",
        ),
        _lever(
            facts,
            "a runner that waits",
            f"set {facts.path}.arc.min: 1",
            nothing if facts.min_nodes else node,
            replace(facts, min_runners=1),
            "",
        ),
    )


def _lever(
    before: QueueFacts, name: str, change: str, month: Decimal | None, then: QueueFacts, hindrance: str
) -> Lever:
    after = queue_wait(then)
    if not hindrance and after.p95 >= queue_wait(before).p95:
        hindrance = "it would not be faster"
    return Lever(name=name, change=change, month=month, after=None if hindrance else after, hindrance=hindrance)
