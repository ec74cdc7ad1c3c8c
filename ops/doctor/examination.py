"""One examination: every check that applies to the stack, in the order of the chain.

A check whose prerequisite failed is not made, because its result would only repeat the first fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from gpu_ci.knowledge.verdict import Level
from ops.doctor.check import Check
from ops.doctor.finding import Finding
from ops.doctor.world.source import Unanswered
from ops.doctor.world.world import World
from ops.outcome import Exit

_REPORT: Final = "report it with the bundle that BUNDLE=x.tar.gz writes"


class State(StrEnum):
    """The state of a link."""

    WORKS = "ok"
    """The check passed, perhaps with warnings."""
    BROKEN = "error"
    """The check found a fault."""
    UNANSWERED = "unanswered"
    """The outside system did not answer."""
    NOT_CHECKED = "not checked"
    """A prerequisite failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A check and its result."""

    check: str
    state: State
    findings: tuple[Finding, ...] = ()
    because: str = ""
    """The reason without an answer, or the check that failed first."""
    fix: str = ""
    """The fix without an answer."""

    @property
    def page(self) -> str:
        """The entry of the check in the documentation."""
        return f"docs/runbook.md#{self.check}"

    def data(self) -> dict[str, Any]:
        """Return the link as JSON."""
        return {
            "check": self.check,
            "state": str(self.state),
            "because": self.because,
            "fix": self.fix,
            "page": self.page,
            "verdicts": [one.data() for one in self.findings],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """The results of all checks, in the order of the chain."""

    links: tuple[Link, ...]

    @property
    def exit(self) -> Exit:
        """The exit code: a fault, then a system without an answer, then success."""
        states = {link.state for link in self.links}
        if State.BROKEN in states:
            return Exit.FINDING
        return Exit.OUTSIDE if State.UNANSWERED in states else Exit.GOOD

    def of(self, state: State) -> list[Link]:
        """Return the links with a state."""
        return [link for link in self.links if link.state is state]

    def data(self) -> dict[str, Any]:
        """Return the examination as JSON."""
        first = next((link.check for link in self.links if link.state is State.BROKEN), None)
        return {"first-broken": first, "links": [link.data() for link in self.links]}


def examine(world: World, checks: Iterable[Check], *, step: Callable[[str], None] = lambda _name: None) -> Examination:
    """Make the checks that apply. `checks` are in the order of the chain, each after its prerequisites."""
    links: dict[str, Link] = {}
    for one in checks:
        if one.applies(world.settings):
            step(one.name)
            links[one.name] = _link(one, world, links)
    # A check that found nothing to check, for example no repository, has no result.
    return Examination(links=tuple(link for link in links.values() if link.findings or link.state is not State.WORKS))


def _link(one: Check, world: World, links: Mapping[str, Link]) -> Link:
    for need in one.needs:
        before = links.get(need)
        if before is not None and before.state is not State.WORKS:
            cause = before.because if before.state is State.NOT_CHECKED else before.check
            return Link(check=one.name, state=State.NOT_CHECKED, because=cause)
    findings: list[Finding] = []
    state, because, fix = State.WORKS, "", ""
    try:
        for finding in one.check(world):
            findings.append(finding)  # noqa: PERF402 - the findings before a fault count
    except Unanswered as fault:
        state, because, fix = State.UNANSWERED, fault.reason, fault.fix
    except (AttributeError, LookupError, TypeError, ValueError) as fault:
        # Systems change. One answer of another form must not hide the other links.
        state, because, fix = State.UNANSWERED, f"an answer has another form ({fault!r})", _REPORT
    if any(finding.level is Level.ERROR for finding in findings):
        state = State.BROKEN
    return Link(check=one.name, state=state, findings=tuple(dict.fromkeys(findings)), because=because, fix=fix)
