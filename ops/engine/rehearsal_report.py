"""What a rehearsal tells: to who looks on while it lasts, and afterwards as a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ops.engine.events import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One part of a stack's life, and what came of it."""

    name: str
    ok: bool
    said: str
    """What happened, in one line."""
    seconds: float
    findings: tuple[str, ...] = ()
    """What should not have been; empty where all is well."""

    def __str__(self) -> str:
        """The phase in one line."""
        return f"{'ok' if self.ok else 'FAILED'}  {self.name}: {self.said} ({self.seconds:.1f} s)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """All phases, in order; the first that failed is the last."""

    stack: str
    phases: tuple[Phase, ...]

    @property
    def ok(self) -> bool:
        """Whether the stack lived as it should."""
        return all(phase.ok for phase in self.phases)

    @property
    def seconds(self) -> float:
        """How long all of it took."""
        return sum(phase.seconds for phase in self.phases)

    def to_data(self) -> dict[str, Any]:
        """The rehearsal as plain data."""
        return {
            "stack": self.stack,
            "ok": self.ok,
            "seconds": round(self.seconds, 1),
            "phases": [
                {
                    "name": phase.name,
                    "ok": phase.ok,
                    "said": phase.said,
                    "seconds": round(phase.seconds, 1),
                    "findings": list(phase.findings),
                }
                for phase in self.phases
            ],
        }


class Watch(Protocol):
    """Who looks on."""

    def stage(self, text: str) -> None:
        """A phase begins."""

    def step(self, text: str) -> None:
        """The engine has done one more thing in it."""


class _Nobody:
    """Looks on, and away."""

    def stage(self, text: str) -> None:
        pass

    step = stage


class Count:
    """Tells who looks on how far a phase is."""

    def __init__(self, watch: Watch | None) -> None:
        self._watch = watch or _Nobody()
        self._name = ""
        self._steps = 0

    def begin(self, name: str) -> None:
        self._name, self._steps = name, 0
        self._watch.stage(name)

    def step(self, step: Step) -> None:
        self._steps += 1
        self._watch.step(f"{self._name}: {self._steps} {step}")
