"""The report of a change: what it does to a running stack, what it costs, and which rule it breaks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

from gpu_ci.knowledge.verdict import Level, Verdict
from gpu_ci.policy.rules import Finding
from gpu_ci.stack_file.faults import listed
from ops.plan.exceptions import ListedException
from ops.report.changes import Change, Effect
from ops.report.comparison import Comparison
from ops.report.exceptions import Noted, noted

_NAMED: Final = 3
"""Resources that the reason of a risk names."""


class Risk(StrEnum):
    """The attention that a change needs."""

    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
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
    exceptions: tuple[Noted, ...] = ()
    """The exceptions, compared with those of the base."""

    @property
    def risk(self) -> Risk:
        """The attention that the change needs."""
        return next(self._assessments())[0]

    @property
    def risk_reason(self) -> str:
        """One sentence that explains the risk."""
        return next(self._assessments())[1]

    def _assessments(self) -> Iterator[tuple[Risk, str]]:
        """Yield the risks with their reasons, the greatest first."""
        found = self.comparison
        yield from ((Risk.BLOCKED, reason) for reason in self._obstacles())
        if found.base.faults:
            yield Risk.HIGH, "the base does not run, so its resources are not known"
        if found.loud:
            yield Risk.HIGH, f"jobs end or data is lost: {_names(found.loud)}"
        if found.access:
            yield Risk.MEDIUM, f"no job ends and no data is lost, but access changes: {_names(found.access)}"
        kinds = [f"{effect}s" for effect in Effect if found.of(effect)]
        if kinds:
            yield Risk.LOW, f"no job ends and no data is lost; the change only {listed(kinds)} resources"
        if self.new:
            yield Risk.LOW, "no resource changes, but a check has a new warning"
        if any(one.change for one in self.exceptions):
            yield Risk.LOW, "no resource changes, but the exceptions change"
        yield Risk.NONE, "nothing changes"

    def _obstacles(self) -> Iterator[str]:
        """Yield the reasons why an update cannot succeed."""
        found = self.comparison
        if found.refusal:
            yield found.refusal.reason
        if found.fault:
            yield "the engine cannot preview the change"
        if any(line.level != Level.WARNING for line in (*self.new, *self.unchanged)):
            yield "a check or a rule refuses the stack"
        if found.refusals:
            yield "the program refuses the update"

    def to_data(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            **self.comparison.to_data(),
            "risk": {"level": self.risk.value, "reason": self.risk_reason},
            "findings": {
                name: [asdict(one) for one in lines]
                for name, lines in (("new", self.new), ("fixed", self.fixed), ("unchanged", self.unchanged))
            },
            "cost": {"before": self.cost_before, "after": self.cost},
            "exceptions": [asdict(one) for one in self.exceptions],
        }


def report(
    comparison: Comparison,
    verdicts: Iterable[Verdict],
    findings: Iterable[Finding],
    cost: Mapping[str, Any],
    exceptions: Iterable[ListedException] = (),
) -> Report:
    """Return the report of a comparison.

    Args:
        comparison: the changes.
        verdicts: those of this checkout.
        findings: the rules that this checkout breaks.
        cost: the month of this checkout.
        exceptions: those of this checkout.

    """
    plan = comparison.base.plan or {}
    old_verdicts = [Verdict(**one) for one in plan.get("verdicts", ())]
    old_findings = [Finding(**one) for one in plan.get("findings", ())]
    now, before = _lines(verdicts, findings), _lines(old_verdicts, old_findings)
    known, current = {one.identity for one in before}, {one.identity for one in now}
    return Report(
        comparison=comparison,
        new=tuple(one for one in now if one.identity not in known),
        fixed=tuple(one for one in before if one.identity not in current),
        unchanged=tuple(one for one in now if one.identity in known),
        cost=cost,
        cost_before=plan.get("cost"),
        exceptions=noted(exceptions, plan.get("exceptions", ())),
    )


def _lines(verdicts: Iterable[Verdict], findings: Iterable[Finding]) -> list[Line]:
    """Return the verdicts that are no `ok`, and the broken rules."""
    return [
        *(
            Line(level=one.level, check=one.check, subject=one.subject, reason=one.reason, fix=one.fix)
            for one in verdicts
            if one.level not in {Level.OK, Level.ALLOWED}
        ),
        *(Line(level="rule", check=one.rule, subject=one.subject, reason=one.problem) for one in findings),
    ]


def _names(changes: Sequence[Change]) -> str:
    """Return the first names of changes, and the number of the others."""
    names = list(dict.fromkeys(f"{one.kind} {one.name}" for one in changes))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"
