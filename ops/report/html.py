"""A report as one HTML file that needs nothing else: the changes as a tree, a search, and the cost as a chart."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ops.report.changes import ORDER, Change
from ops.report.cost import CASES, differing
from ops.report.report import Report
from ops.report.text import MARKS, blocks, summary


@dataclass(slots=True, kw_only=True)
class Branch:
    """A component in the tree."""

    name: str
    class_: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    branches: dict[str, Branch] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """The changed resources in it."""
        return len(self.rows) + sum(one.count for one in self.branches.values())

    @property
    def loud(self) -> bool:
        """Return True if a change in it ends jobs or loses data."""
        return any(row["change"].meaning for row in self.rows) or any(one.loud for one in self.branches.values())


def html(report: Report) -> str:
    """Return the report as HTML. Every text of the report is escaped."""
    changes = [one for one in report.comparison.changes if not one.component]
    numbers = Counter(one.effect for one in changes)
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            summary=summary(report.comparison),
            tree=_tree(changes),
            effects=[(effect, MARKS[effect], numbers[effect]) for effect in ORDER if numbers[effect]],
            cost=_chart(report),
            cases=CASES,
            differences=list(differing(report.cost_before, report.cost)),
        )
    )


def _tree(changes: list[Change]) -> Branch:
    root = Branch(name="", class_="")
    for change in sorted(changes, key=_attention):
        branch = root
        for part in change.inside:
            name, _, class_ = part.rpartition(" ")
            branch = branch.branches.setdefault(part, Branch(name=name, class_=class_))
        branch.rows.append(_row(change))
    return root


def _attention(change: Change) -> tuple[bool, bool, bool]:
    """Return the order of a change in its branch: first those that need attention, last those that follow others."""
    return change.follows, change.meaning is None, not change.access


def _row(change: Change) -> dict[str, Any]:
    words = [change.effect, change.kind, change.name, *change.inside, *(one.path for one in change.properties)]
    return {
        "change": change,
        "mark": MARKS[change.effect],
        "blocks": list(blocks(change, change.properties)),
        "words": " ".join(words).lower(),
    }


def _chart(report: Report) -> list[dict[str, Any]]:
    """Return the cases with their bars; the longest bar of all has 100 percent."""
    sides = [(name, one["total"]) for name, one in (("before", report.cost_before), ("after", report.cost)) if one]
    longest = max([float(total[case]) for _, total in sides for case in CASES] + [0.01])
    return [
        {
            "title": title,
            "bars": [(side, float(total[case]), 100 * float(total[case]) / longest) for side, total in sides],
            "more": float(sides[-1][1][case]) - float(sides[0][1][case]),
        }
        for case, title in CASES.items()
    ]


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates", encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
