"""The check of an edit of versions: the base and this checkout, compared by the engine and by their pins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gpu_ci.knowledge.verdict import Level, Verdict
from gpu_ci.stack_file.faults import Fault
from ops.plan import planning
from ops.plan.model import Plan
from ops.plan.stack_file import StackFile
from ops.report.base import file_at
from ops.report.changes import Change, Effect
from ops.report.comparison import REFUSED, Comparison
from ops.upgrades.effects import effect, notes
from ops.upgrades.order import Update, updates
from ops.upgrades.pins import (
    Kind,
    Move,
    Pin,
    Row,
    existing,
    moves,
    of_locks,
    of_resources,
    of_stack_file,
    used_packages,
)
from ops.upgrades.rules import refused

LOCKS: Final = ("requirements.txt", "requirements/policy.txt")
_NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The result for one stack."""

    comparison: Comparison
    moves: tuple[Move, ...]
    updates: tuple[Update, ...]
    refused: tuple[Fault, ...]
    """What cannot work, with the fix."""
    warnings: tuple[str, ...]
    config: Mapping[str, str]
    """The configuration of this checkout."""

    @property
    def ok(self) -> bool:
        """Return True if nothing is refused and the base could be compared."""
        return not self.refused and not self.comparison.base.faults

    def to_data(self) -> dict[str, Any]:
        """Return the check as plain data."""
        base = self.comparison.base
        return {
            "stack": self.comparison.stack,
            "base": {"name": base.name, "commit": base.commit, "faults": list(base.faults)},
            "ok": self.ok,
            "moves": [move.to_data() for move in self.moves],
            "refused": [{"subject": one.path, "problem": one.problem, "fix": one.fix} for one in self.refused],
            "warnings": list(self.warnings),
            "updates": [
                {
                    **update.to_data(),
                    "effects": {stage.kind.name.lower(): effect(stage) for stage in update.stages},
                    "notes": [line for stage in update.stages for line in notes(stage, self.config)],
                }
                for update in self.updates
            ],
            "comparison": self.comparison.to_data(),
        }


def check(
    made: planning.Planning | planning.RefusedPlan, comparison: Comparison, stack_file: StackFile, root: Path
) -> Check:
    """Compare the versions of a stack with those of the base.

    Args:
        made: the plan of this checkout, or its refusal.
        comparison: the comparison with the base.
        stack_file: the stack file of this checkout.
        root: the checkout.

    """
    rows = planning.of_refused(stack_file, _rows) if isinstance(made, planning.RefusedPlan) else _rows(made.plan)
    base = comparison.base
    if base.state is None:
        old_rows: tuple[Row, ...] = rows
        old_config = stack_file.config if base.faults else {}
    else:
        old_rows = tuple(
            Row(type=one["type"], name=one["urn"].rpartition("::")[2], inputs=one.get("inputs") or {})
            for one in base.state.resources
        )
        old_config = base.state.stack_file.config
    locks_before = of_locks(*(file_at(root, base.commit, name) for name in LOCKS))
    locks_after = of_locks(*((root / name).read_text(encoding="utf-8") for name in LOCKS))
    if base.new:
        locks_before = {}
    before = {**of_resources(old_rows), **of_stack_file(old_config), **used_packages(locks_before, old_rows)}
    after = {**of_resources(rows), **of_stack_file(stack_file.config), **used_packages(locks_after, rows or old_rows)}
    found = moves(before, after)
    faults = refused(found, before, after)
    return Check(
        comparison=comparison,
        moves=found,
        updates=updates(found, outside=existing(stack_file.config)),
        refused=(*faults, *_of_the_engine(comparison, faults), *_of_checks(made.verdicts)),
        warnings=tuple(_warnings(comparison, before, after)),
        config=stack_file.config,
    )


def _rows(plan: Plan) -> tuple[Row, ...]:
    return tuple(Row(type=one.type, name=one.name, inputs=one.inputs) for one in plan)


def _of_checks(verdicts: Iterable[Verdict]) -> Iterator[Fault]:
    for one in verdicts:
        if one.level is Level.ERROR:
            yield Fault(one.subject, one.reason, one.fix)


def _of_the_engine(comparison: Comparison, known: tuple[Fault, ...]) -> Iterator[Fault]:
    """Yield the replacement of a running cluster, and what the engine refuses without a rule here that says it."""
    if comparison.refusal:
        yield Fault("cluster", comparison.refusal.reason, "; ".join(comparison.refusal.lines[1:]))
    elif not known:
        for line in (*comparison.refusals, *comparison.fault.splitlines()):
            if line != REFUSED:
                yield Fault("the preview", line, "correct this first")


def _warnings(comparison: Comparison, before: Mapping[Pin, str], after: Mapping[Pin, str]) -> Iterator[str]:
    """Yield what a change of versions should not be combined with."""
    moved = {pin for pin in before.keys() & after.keys() if before[pin] != after[pin]}
    groups = {pin.name for pin in moved if pin.kind is Kind.NODE}
    for change in comparison.changes:
        if change.type == _NODE_GROUP and change.name in groups and _resized(change):
            yield (
                f"{change.name} also gets other sizes. Change them in another update: a node that the autoscaler starts"
                " during this one would end"
            )
    ended = [one for one in comparison.changes if one.effect in (Effect.REPLACE, Effect.DELETE) and one.meaning]
    if moved and ended:
        names = ", ".join(f"{one.kind} {one.name}" for one in ended)
        yield f"a new version replaces nothing, but this change replaces or deletes {names}. Make it another update"


def _resized(change: Change) -> bool:
    return any(one.path.startswith("scalingConfig.") for one in change.properties)
