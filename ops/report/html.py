"""A report as one HTML file that needs nothing else: a tree of the changes, a search, and the cost as a chart."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ops.report.markdown import cost_differences
from ops.report.text import MARKS, property_lines, summary

if TYPE_CHECKING:
    from ops.report.changes import Change
    from ops.report.report import Report


def html(report: Report) -> str:
    """Return the report as HTML. Every text of the report is escaped."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for change in report.comparison.changes:
        if not change.component:
            groups.setdefault(_component(change), []).append(_row(change))
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            summary=summary(report.comparison),
            groups=dict(sorted(groups.items())),
            cost=_chart(report),
            differences=list(cost_differences(report.cost_before, report.cost)),
        )
    )


def _component(change: Change) -> str:
    types = change.urn.split("::")[2].split("$")
    return types[-2].rpartition(":")[2] if len(types) > 1 else "the stack"


def _row(change: Change) -> dict[str, Any]:
    return {
        "change": change,
        "mark": MARKS[change.effect],
        "lines": list(property_lines(change)),
        "words": " ".join([change.effect, change.kind, change.name, *(one.path for one in change.properties)]).lower(),
    }


def _chart(report: Report) -> list[dict[str, Any]]:
    """Return the bars of the cost chart; the longest has 100 percent."""
    titles = {"idle": "without jobs", "expected": "with the stated jobs", "worst": "at most"}
    before, after = report.cost_before, report.cost
    sides = [("before", before), ("after", after)] if before else [("after", after)]
    longest = max([float(one["total"][case]) for _, one in sides for case in titles] + [0.01])
    return [
        {
            "title": title,
            "side": side,
            "usd": float(one["total"][case]),
            "percent": 100 * float(one["total"][case]) / longest,
        }
        for case, title in titles.items()
        for side, one in sides
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
