"""The events of one engine operation, and its outcome, as plain data. A failure is an outcome, not an exception."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ops.plan.model import Planned

if TYPE_CHECKING:
    from pulumi.automation.events import EngineEvent, StepEventMetadata


SAME: Final = "same"
_ENGINE_ENDED: Final = "Resource monitor has terminated"
_SUMMARY: Final = re.compile(r"^(update|preview|destroy|refresh) failed$|^resource .* failed|^run canceled")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of the engine for one resource; in a preview, a step that an update would take."""

    op: str
    """The operation: `create`, `update`, `replace`, `delete`, `same`, …"""
    urn: str
    type: str
    changed: Mapping[str, str] = field(default_factory=dict)
    """The changed property paths and their kinds of change: `update`, `add-replace`, …"""
    old: Mapping[str, Any] = field(default_factory=dict)
    """The inputs before the step; the engine masks secrets."""
    new: Mapping[str, Any] = field(default_factory=dict)
    """The inputs after the step, with secrets masked and unknown values marked."""
    was: str = ""
    """The URN before the step; empty for a new resource."""
    parent: str = ""
    """The URN of the component that contains it; empty where a test does not state it."""

    @property
    def name(self) -> str:
        """The last part of the URN."""
        return self.urn.rpartition("::")[2]

    def __str__(self) -> str:
        """Return the operation, the type and the name."""
        return f"{self.op} {self.type} {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """A message of the engine, the program or a provider."""

    severity: str
    """`error`, `warning` or `info#err`."""
    message: str
    urn: str
    """The resource; empty if the message concerns none."""

    def __str__(self) -> str:
        """Return the resource's name and the message."""
        name = self.urn.rpartition("::")[2]
        return f"{name}: {self.message}" if name else self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of one operation."""

    operation: str
    """`preview`, `up`, `destroy` or `refresh`."""
    ok: bool
    steps: tuple[Step, ...]
    """The steps that were taken; in a preview, those that an update would take."""
    failed: tuple[Step, ...]
    """The steps that failed."""
    diagnostics: tuple[Diagnostic, ...]
    seconds: float
    goals: Mapping[str, Planned] = field(default_factory=dict)
    """In a preview, the registrations by URN."""

    @property
    def changes(self) -> tuple[Step, ...]:
        """The steps that change something."""
        return tuple(step for step in self.steps if step.op != SAME)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The error messages."""
        return tuple(one for one in self.diagnostics if one.severity == "error")

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of steps of each operation."""
        return dict(sorted(Counter(step.op for step in self.steps).items()))

    @property
    def fault(self) -> str:
        """The error messages as one string; empty if the operation succeeded."""
        if self.ok:
            return ""
        return "\n".join(str(one) for one in self.errors) or "the engine gave no reason"


class EventLog:
    """Collects the events of one operation."""

    def __init__(self, on_step: Callable[[Step], None], *, planning: bool) -> None:
        self._on_step = on_step
        self._planning = planning
        self._steps: dict[tuple[str, str], Step] = {}
        self._failed: list[Step] = []
        self._diagnostics: list[Diagnostic] = []

    def add(self, event: EngineEvent) -> None:
        """Add one event."""
        if event.resource_pre_event and (self._planning or _is_component(event.resource_pre_event.metadata)):
            self._done(_step(event.resource_pre_event.metadata))
        elif event.res_outputs_event and not self._planning:
            self._done(_step(event.res_outputs_event.metadata))
        elif event.res_op_failed_event:
            self._failed.append(_step(event.res_op_failed_event.metadata))
        elif event.diagnostic_event and event.diagnostic_event.severity in ("error", "warning", "info#err"):
            diagnostic = event.diagnostic_event
            message = (diagnostic.message or "").strip()
            if message and not _SUMMARY.search(message):
                one = Diagnostic(severity=diagnostic.severity, message=message, urn=diagnostic.urn or "")
                if one not in self._diagnostics:
                    self._diagnostics.append(one)

    def outcome(self, operation: str, seconds: float, *, problem: str | None) -> Outcome:
        """Return the outcome; `problem` is the error of the process, used if no event gives a reason."""
        # The program reports that the engine has ended; that is no cause.
        diagnostics = tuple(one for one in self._diagnostics if not one.message.startswith(_ENGINE_ENDED))
        if problem is not None and not any(one.severity == "error" for one in diagnostics):
            diagnostics += (Diagnostic(severity="error", message=problem, urn=""),)
        return Outcome(
            operation=operation,
            ok=problem is None,
            steps=tuple(self._steps.values()),
            failed=tuple(self._failed),
            diagnostics=diagnostics,
            seconds=seconds,
        )

    def _done(self, step: Step) -> None:
        # An update refreshes first: it reads every resource. A component and the stack have a second event when their
        # outputs are complete.
        if step.op != "refresh" and (step.op, step.urn) not in self._steps:
            self._steps[step.op, step.urn] = step
            self._on_step(step)


def _is_component(metadata: StepEventMetadata) -> bool:
    """Return whether no provider creates the resource: then no event marks the end of the step."""
    state = metadata.new or metadata.old
    return state is not None and not state.custom and metadata.op.value != "refresh"


def _step(metadata: StepEventMetadata) -> Step:
    changed = {path: diff.diff_kind.value for path, diff in (metadata.detailed_diff or {}).items()}
    return Step(
        op=metadata.op.value,
        urn=metadata.urn,
        type=metadata.type,
        changed=changed or dict.fromkeys(metadata.diffs or (), "update"),
        old=(metadata.old.inputs if metadata.old else None) or {},
        new=(metadata.new.inputs if metadata.new else None) or {},
        was=metadata.old.urn if metadata.old else "",
        parent=state.parent if (state := metadata.new or metadata.old) else "",
    )
