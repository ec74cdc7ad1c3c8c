"""The comparison of a stack with another commit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ops.engine.engine import Engine
from ops.report.changes import Change, Effect, changes

if TYPE_CHECKING:
    from collections.abc import Callable

    from ops.engine.events import Step
    from ops.engine.pulumi_cli import Found
    from ops.plan.stack_file import StackFile
    from ops.report.base import Base


REFUSED: Final = "the checks refuse the stack, so an update stops before its first resource"
"""The fault of a stack with an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The effect of an update of the base with this checkout."""

    base: Base
    stack: str
    changes: tuple[Change, ...]
    unchanged: int
    fault: str = ""
    """The error of the engine; empty if the preview succeeded."""

    def of(self, effect: Effect) -> tuple[Change, ...]:
        """Return the changes of one effect, without components."""
        return tuple(one for one in self.changes if one.effect is effect and not one.component)

    @property
    def loud(self) -> tuple[Change, ...]:
        """The changes that end jobs or lose data."""
        return tuple(one for one in self.changes if one.meaning is not None)

    def to_data(self) -> dict[str, Any]:
        """Return the comparison as plain data."""
        return {
            "base": {"name": self.base.name, "commit": self.base.commit, "faults": list(self.base.faults)},
            "stack": self.stack,
            "fault": self.fault,
            "unchanged": self.unchanged,
            "changes": [one.to_data() for one in self.changes],
        }


def compare(
    cli: Found, base: Base, stack_file: StackFile, on_step: Callable[[Step], None] = lambda _step: None
) -> Comparison:
    """Preview the program of this checkout over the state of the base.

    Raises:
        ops.engine.engine.EngineNotReadyError: the engine could not be set up.

    """
    with Engine(cli, stack_file, on_step=on_step) as engine:
        if base.state is not None:
            engine.load(base.state.resources)
        outcome = engine.preview()
    found = changes(outcome.steps)
    touched = {one.urn for one in found}
    unchanged = sum(step.op == "same" and step.urn not in touched and ":" in step.type for step in outcome.steps)
    return Comparison(base=base, stack=stack_file.name, changes=found, unchanged=unchanged, fault=outcome.fault)
