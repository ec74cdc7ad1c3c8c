"""The exceptions of a stack file with their state, and the findings that they allow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from gpu_ci.knowledge.verdict import Level, Verdict
from gpu_ci.policy import exceptions
from gpu_ci.policy.exceptions import State, Stated
from gpu_ci.policy.rules import Finding
from ops.plan import verdicts

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedException:
    """One exception."""

    name: str
    check: str
    """The check or the rule."""
    subject: str
    reason: str
    until: date
    state: State
    allows: tuple[str, ...]
    """The reasons of the findings that it allows."""

    def to_data(self) -> dict[str, Any]:
        """Return the exception as plain data."""
        return {
            "name": self.name,
            "check": self.check,
            "subject": self.subject,
            "reason": self.reason,
            "until": self.until.isoformat(),
            "state": self.state.value,
            "allows": list(self.allows),
        }


def listed_exceptions(
    stated: Mapping[str, Stated], found: Iterable[Verdict], broken: Iterable[Finding]
) -> tuple[ListedException, ...]:
    """Return the exceptions of a stack file with what they allow of these verdicts and broken rules."""
    on = exceptions.today()
    allowed = [(one.check, one.subject, one.reason) for one in found if one.level is Level.ALLOWED]
    allowed += [
        (one.rule, one.subject, one.problem)
        for one in broken
        if exceptions.allowing(stated, one.rule, one.subject, on) is not None
    ]
    return tuple(
        ListedException(
            name=name,
            check=one.check,
            subject=one.subject,
            reason=one.reason,
            until=one.until,
            state=exceptions.state(one.until, on),
            allows=tuple(reason for *finding, reason in allowed if finding == [one.check, one.subject]),
        )
        for name, one in stated.items()
    )


def show(console: Console, stated: Sequence[ListedException]) -> None:
    """Print every allowed finding with the exception that allows it."""
    for one in stated:
        for finding in one.allows:
            verdicts.entry(console, Level.ALLOWED, one.subject, one.check, finding)
            verdicts.paragraph(console, f"until {one.until}, by exceptions.{one.name}: {one.reason}")
