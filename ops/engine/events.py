"""What the engine tells while it works, as plain frozen data.

Owns the translation of the Automation API's events. A failure is a result like any other: no exception, and no
traceback of the engine's or of ours.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pulumi.automation.events import EngineEvent, StepEventMetadata

    from ops.plan.model import Planned

SAME: Final = "same"
_SUMMING_UP: Final = re.compile(r"^(update|preview|destroy|refresh) failed$|^resource .* failed|^run canceled")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing the engine does, or in a preview would do, to one resource."""

    op: str
    """As the engine calls it: `create`, `update`, `replace`, `delete`, `same`, …"""
    urn: str
    type: str
    changed: Mapping[str, str] = field(default_factory=dict)
    """The property paths that make the difference, and how: `update`, `add-replace`, …"""

    @property
    def name(self) -> str:
        """The last part of the URN."""
        return self.urn.rpartition("::")[2]

    def __str__(self) -> str:
        """What is done to what, in one line."""
        return f"{self.op} {self.type} {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """Something the engine, the program or a provider said."""

    severity: str
    """`error`, `warning` or `info#err`."""
    message: str
    urn: str
    """The resource concerned; empty where it is none."""

    def __str__(self) -> str:
        """The message, after the name of what it concerns."""
        name = self.urn.rpartition("::")[2]
        return f"{name}: {self.message}" if name else self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one operation."""

    operation: str
    """`preview`, `up`, `destroy` or `refresh`."""
    ok: bool
    steps: tuple[Step, ...]
    """What was done; for a preview, what would be."""
    failed: tuple[Step, ...]
    """What was tried and not done."""
    diagnostics: tuple[Diagnostic, ...]
    seconds: float
    goals: Mapping[str, Planned] = field(default_factory=dict)
    """For a preview, what the engine took down of every registration, by URN."""

    @property
    def changes(self) -> tuple[Step, ...]:
        """The steps that leave something other than it was."""
        return tuple(step for step in self.steps if step.op != SAME)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """What was wrong."""
        return tuple(one for one in self.diagnostics if one.severity == "error")

    @property
    def counts(self) -> Mapping[str, int]:
        """How many steps of each kind."""
        return dict(sorted(Counter(step.op for step in self.steps).items()))

    @property
    def fault(self) -> str:
        """Why it failed, in the words of those who said so; empty where it did not."""
        if self.ok:
            return ""
        return "\n".join(str(one) for one in self.errors) or "the engine did not say why"


class Told:
    """Collects what one operation tells."""

    def __init__(self, heard: Callable[[Step], None], *, planning: bool) -> None:
        self._heard = heard
        self._planning = planning
        self._steps: dict[tuple[str, str], Step] = {}
        self._failed: list[Step] = []
        self._diagnostics: list[Diagnostic] = []

    def event(self, event: EngineEvent) -> None:
        """Take one event down."""
        if event.resource_pre_event and (self._planning or _is_component(event.resource_pre_event.metadata)):
            self._done(_step(event.resource_pre_event.metadata))
        elif event.res_outputs_event and not self._planning:
            self._done(_step(event.res_outputs_event.metadata))
        elif event.res_op_failed_event:
            self._failed.append(_step(event.res_op_failed_event.metadata))
        elif event.diagnostic_event and event.diagnostic_event.severity in ("error", "warning", "info#err"):
            said = event.diagnostic_event
            message = (said.message or "").strip()
            if message and not _SUMMING_UP.search(message):
                one = Diagnostic(severity=said.severity, message=message, urn=said.urn or "")
                if one not in self._diagnostics:
                    self._diagnostics.append(one)

    def outcome(self, operation: str, seconds: float, *, problem: str | None) -> Outcome:
        """Everything told; `problem` is what the process said where it failed, used where nobody else said why."""
        told = tuple(self._diagnostics)
        if problem is not None and not any(one.severity == "error" for one in told):
            told += (Diagnostic(severity="error", message=problem, urn=""),)
        return Outcome(
            operation=operation,
            ok=problem is None,
            steps=tuple(self._steps.values()),
            failed=tuple(self._failed),
            diagnostics=told,
            seconds=seconds,
        )

    def _done(self, step: Step) -> None:
        # A component and the stack tell their outputs once more when they are complete.
        if (step.op, step.urn) not in self._steps:
            self._steps[step.op, step.urn] = step
            self._heard(step)


def _is_component(metadata: StepEventMetadata) -> bool:
    """Whether nobody makes it: no end of the step is told then, unless the program tells its outputs."""
    state = metadata.new or metadata.old
    return state is not None and not state.custom and metadata.op.value != "refresh"


def _step(metadata: StepEventMetadata) -> Step:
    changed = {path: diff.diff_kind.value for path, diff in (metadata.detailed_diff or {}).items()}
    return Step(
        op=metadata.op.value,
        urn=metadata.urn,
        type=metadata.type,
        changed=changed or dict.fromkeys(metadata.diffs or (), "update"),
    )
