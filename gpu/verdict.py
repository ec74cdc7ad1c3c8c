"""The one shape of every judgement on a stack: who, how bad, why, and the way out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How a verdict is to be taken."""

    OK = "ok"
    """What was asked holds."""
    WARNING = "warning"
    """It works, but somebody will be surprised by it. Logged on the component concerned; stops nothing."""
    ERROR = "error"
    """It cannot work. Stops `pulumi up` before the first resource, and ends `make plan` with 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One judgement about one thing that the stack file states."""

    check: str
    """Which check judged, in kebab case ("scale-from-zero"); also the name of its chapter in the documentation."""
    level: Level
    offender: str
    """The path in the stack file of what is judged, for example `runners.gpu-t4.needs.memory`."""
    reason: str
    """One sentence with the figures that decided."""
    way_out: str = ""
    """What to change, in words that can be acted on; empty where the level is ok."""
    chain: tuple[str, ...] = ()
    """The steps from fact to conclusion, in order, each readable alone."""

    @property
    def chapter(self) -> str:
        """Where the documentation explains this check, relative to its root."""
        return f"explanation/checks/{self.check}.md"

    def __str__(self) -> str:
        """The verdict as one line, for whoever sees nothing but a log."""
        tail = f" → {self.way_out}" if self.way_out else ""
        return f"{self.level}: {self.offender}: {self.reason}{tail} ({self.check}: docs/{self.chapter})"


def worst(verdicts: list[Verdict]) -> Level:
    """The gravest level among `verdicts`; ok where there are none."""
    levels = {verdict.level for verdict in verdicts}
    return next((level for level in (Level.ERROR, Level.WARNING) if level in levels), Level.OK)
