"""The report of a change: what it does to a running stack, what it costs, and which rule it breaks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from gpu.verdict import Level
from ops.report.changes import Effect

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gpu.verdict import Verdict
    from ops.report.comparison import Comparison
    from policy.rules import Finding


class Risk(StrEnum):
    """The attention that a change needs."""

    NONE = "none"
    LOW = "low"
    HIGH = "high"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One finding: a verdict that is no `ok`, or a broken rule."""

    level: str
    check: str
    subject: str
    reason: str
    fix: str = ""

    @property
    def identity(self) -> tuple[str, str, str]:
        """The parts that two runs of the same finding share."""
        return self.level, self.check, self.subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The report of one stack."""

    comparison: Comparison
    new: tuple[Line, ...]
    """Findings that the base does not have."""
    fixed: tuple[Line, ...]
    """Findings of the base that the checkout does not have."""
    unchanged: tuple[Line, ...]
    cost: Mapping[str, Any]
    """The month of this checkout, as `ops.report.cost` returns it."""
    cost_before: Mapping[str, Any] | None
    """The month of the base; None where it has none."""

    @property
    def risk(self) -> Risk:
        """The attention that the change needs."""
        if self.comparison.fault or any(line.level != Level.WARNING for line in (*self.new, *self.unchanged)):
            return Risk.BLOCKED
        if self.comparison.loud or self.comparison.base.faults:
            return Risk.HIGH
        return Risk.LOW if self.comparison.changes or self.new else Risk.NONE

    @property
    def risk_reason(self) -> str:
        """One sentence that explains the risk."""
        if self.comparison.fault:
            return "the engine cannot preview the change"
        if self.risk is Risk.BLOCKED:
            return "a check or a rule refuses the stack"
        if self.comparison.base.faults:
            return "the base does not run, so its resources are not known"
        if self.comparison.loud:
            names = ", ".join(dict.fromkeys(f"{one.kind} {one.name}" for one in self.comparison.loud[:3]))
            more = len(self.comparison.loud) - 3
            return f"jobs end or data is lost: {names}{f' and {more} more' if more > 0 else ''}"
        if self.risk is Risk.NONE:
            return "nothing changes"
        kinds = [one for one in Effect if self.comparison.of(one)]
        return f"no job ends and no data is lost; the change only {_listed([f'{kind}s' for kind in kinds])} resources"

    def to_data(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            **self.comparison.to_data(),
            "risk": {"level": self.risk.value, "reason": self.risk_reason},
            "findings": {
                name: [
                    {
                        "level": one.level,
                        "check": one.check,
                        "subject": one.subject,
                        "reason": one.reason,
                        "fix": one.fix,
                    }
                    for one in lines
                ]
                for name, lines in (("new", self.new), ("fixed", self.fixed), ("unchanged", self.unchanged))
            },
            "cost": {"before": self.cost_before, "after": self.cost},
        }


def report(
    comparison: Comparison, verdicts: Iterable[Verdict], findings: Iterable[Finding], cost: Mapping[str, Any]
) -> Report:
    """Return the report of a comparison.

    Args:
        comparison: the changes.
        verdicts: those of this checkout.
        findings: the rules that this checkout breaks.
        cost: the month of this checkout.

    """
    now = [
        *(
            Line(level=one.level, check=one.check, subject=one.subject, reason=one.reason, fix=one.fix)
            for one in verdicts
            if one.level is not Level.OK
        ),
        *(Line(level="rule", check=one.rule, subject=f"{one.type} {one.name}", reason=one.problem) for one in findings),
    ]
    plan = comparison.base.plan or {}
    before = [
        *(
            Line(
                level=one["level"],
                check=one["check"],
                subject=one["subject"],
                reason=one["reason"],
                fix=one.get("fix") or "",
            )
            for one in plan.get("verdicts", ())
            if one["level"] != Level.OK
        ),
        *(
            Line(level="rule", check=one["rule"], subject=f"{one['type']} {one['name']}", reason=one["problem"])
            for one in plan.get("findings", ())
        ),
    ]
    known, current = {one.identity for one in before}, {one.identity for one in now}
    return Report(
        comparison=comparison,
        new=tuple(one for one in now if one.identity not in known),
        fixed=tuple(one for one in before if one.identity not in current),
        unchanged=tuple(one for one in now if one.identity in known),
        cost=cost,
        cost_before=plan.get("cost"),
    )


def _listed(words: list[str]) -> str:
    """Return words as a list in a sentence."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else "changes"
