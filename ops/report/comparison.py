"""The comparison of a stack with another commit."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, cast

from components.update_guard import collected_refusals
from ops.engine import running_cluster
from ops.engine.engine import Engine
from ops.engine.events import SAME, Step
from ops.engine.pulumi_cli import Found
from ops.engine.running_cluster import Refusal
from ops.plan.stack_file import StackFile
from ops.report.base import Base
from ops.report.changes import Change, Effect, changes

REFUSED: Final = "the checks refuse the stack, so an update stops before its first resource"
"""The refusal of a stack with an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The effect of an update of the base with this checkout."""

    base: Base
    stack: str
    changes: tuple[Change, ...]
    unchanged: int
    fault: str = ""
    """The error of the engine; empty if the preview succeeded."""
    refusal: Refusal | None = None
    """The replacement of a running cluster, which the engine could not finish."""
    refusals: tuple[str, ...] = ()
    """The updates that the program refuses: the resource, the reason and the fix."""

    def of(self, effect: Effect) -> tuple[Change, ...]:
        """Return the changes of one effect, without components."""
        return tuple(one for one in self.changes if one.effect is effect and not one.component)

    @property
    def loud(self) -> tuple[Change, ...]:
        """The changes that end jobs or lose data."""
        return tuple(one for one in self.changes if one.meaning is not None)

    @property
    def access(self) -> tuple[Change, ...]:
        """The changes of access."""
        return tuple(one for one in self.changes if one.access)

    def to_data(self) -> dict[str, Any]:
        """Return the comparison as plain data."""
        return {
            "base": {
                "name": self.base.name,
                "commit": self.base.commit,
                "faults": list(self.base.faults),
                "uncommitted": list(self.base.uncommitted),
                "notes": list(self.base.notes),
            },
            "stack": self.stack,
            "fault": self.fault,
            "refusal": self.refusal.to_data() if self.refusal else None,
            "refusals": list(self.refusals),
            "unchanged": self.unchanged,
            "changes": [one.to_data() for one in self.changes],
        }


def compare(
    cli: Found,
    base: Base,
    stack_file: StackFile,
    on_step: Callable[[Step], None] = lambda _step: None,
    *,
    refused: Callable[[], bool] = lambda: False,
    program: Callable[[], None] | None = None,
) -> Comparison:
    """Preview the program of this checkout over the state of the base.

    Args:
        cli: the CLI.
        base: the other commit.
        stack_file: the stack of this checkout.
        on_step: called for each step of the engine.
        refused: returns whether the checks refuse the stack. The changes are shown nevertheless. It is called when the
            engine has the state, so that a plan can be made until then.
        program: another program than that of the project.

    Raises:
        ops.engine.engine.EngineNotReadyError: the engine could not be set up.

    """
    with Engine(cli, stack_file, program or _unrefused, on_step=on_step) as engine:
        if base.state is not None:
            engine.load(base.state.resources)
        cannot_work = refused()
        with collected_refusals() as refusals:
            outcome = engine.preview()
    found = changes(outcome.steps)
    touched = {one.urn for one in found}
    unchanged = sum(step.op == SAME and step.urn not in touched for step in outcome.steps)
    return Comparison(
        base=base,
        stack=stack_file.name,
        changes=found,
        unchanged=unchanged,
        fault=outcome.fault,
        refusal=running_cluster.refusal(outcome.steps),
        refusals=(*([REFUSED] if cannot_work else []), *(f"{name}: {why}" for name, why in sorted(refusals.items()))),
    )


def _unrefused() -> None:
    """Run the project's program without its refusal by the checks."""
    cast("Callable[..., object]", importlib.import_module("gpu_ci.program").run)(refuse=False)
