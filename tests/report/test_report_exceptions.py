"""Exceptions in a report: new, changed and removed ones, and those that end soon, are over or allow nothing."""

from __future__ import annotations

import json
from datetime import date
from typing import Any, Final

import pytest

from gpu_ci.knowledge.verdict import Level, Verdict
from gpu_ci.policy.exceptions import State
from ops.engine.events import Step
from ops.plan.exceptions import ListedException
from ops.report.base import Base
from ops.report.exceptions import noted
from ops.report.html import html
from ops.report.markdown import LIMIT, markdown
from ops.report.report import Report, Risk, report
from tests.report.made import COST, DEARER, UPDATED, comparison

pytestmark = pytest.mark.pure

ALLOWED: Final = Verdict(check="fit", level=Level.ALLOWED, subject="runners.a", reason="too large", fix="use less")


def one(name: str = "large", **change: Any) -> ListedException:
    """An exception that allows a finding."""
    given: dict[str, Any] = {
        "check": "fit",
        "subject": "runners.a",
        "reason": "the runner moves in December",
        "until": date(2026, 12, 18),
        "state": State.VALID,
        "allows": ("too large",),
    }
    return ListedException(name=name, **{**given, **change})


def made(now: list[ListedException], before: list[ListedException], *steps: Step) -> Report:
    """A report of a stack with these exceptions, over a base with those."""
    plan = {"verdicts": [], "findings": [], "cost": COST, "exceptions": [stated.to_data() for stated in before]}
    base = Base(name="main", commit="0123456789", plan=json.loads(json.dumps(plan)))
    return report(comparison(*steps, base=base), [ALLOWED], [], DEARER, now)


@pytest.mark.parametrize(
    ("now", "before", "status"),
    [
        ([one()], [], ["new, valid"]),
        ([one()], [one()], ["valid"]),
        ([one(until=date(2027, 2, 1))], [one()], ["changed, valid"]),
        ([one(reason="another reason")], [one()], ["changed, valid"]),
        ([], [one()], ["removed"]),
        ([one("b")], [one()], ["new, valid", "removed"]),
        ([one(state=State.SOON)], [one()], ["ends soon"]),
        ([one(state=State.EXPIRED, allows=())], [one()], ["expired"]),
        ([one(state=State.TOO_LONG, allows=())], [], ["new, too long"]),
        ([one(allows=())], [one()], ["unused"]),
        ([one(state=State.SOON, allows=())], [one()], ["unused"]),
    ],
)
def test_an_exception_has_a_status(
    now: list[ListedException], before: list[ListedException], status: list[str]
) -> None:
    assert [each.status for each in noted(now, [stated.to_data() for stated in before])] == status


def test_every_format_lists_the_exceptions() -> None:
    found = made([one()], [one("old")])
    row = "| `large` | `runners.a` (fit) | 2026-12-18 | the runner moves in December | new, valid |"

    assert row in markdown(found)
    assert "| 2026-12-18 | the runner moves in December | removed |" in markdown(found)
    for text in ("Exceptions", "<code>runners.a</code>", "the runner moves in December", "until 2026-12-18", "removed"):
        assert text in html(found)
    assert [(each["name"], each["change"], each["state"]) for each in found.to_data()["exceptions"]] == [
        ("large", "new", "valid"),
        ("old", "removed", ""),
    ]


def test_a_report_without_exceptions_does_not_mention_them() -> None:
    assert "xceptions" not in markdown(made([], [])) + html(made([], []))


def test_an_allowed_finding_does_not_count_as_a_finding() -> None:
    found = made([one()], [one()])

    assert (found.new, found.unchanged, found.risk) == ((), (), Risk.NONE)


def test_a_new_exception_alone_is_a_low_risk() -> None:
    found = made([one()], [])

    assert (found.risk, found.risk_reason) == (Risk.LOW, "no resource changes, but the exceptions change")
    assert made([one()], [], UPDATED).risk_reason.startswith("no job ends")


def test_the_table_has_room_for_those_that_need_attention() -> None:
    many = [one(f"e{number}", reason="r" * 300) for number in range(400)]
    over = one("over", state=State.EXPIRED, allows=())

    text = markdown(made([*many, over], many))

    assert len(text) <= LIMIT
    assert text.index("`over`") < text.index("`e0`")
    assert "more exceptions do not fit here" in text


def test_the_text_of_an_exception_cannot_change_the_page() -> None:
    found = made([one(reason="<script>|`x`", subject="<b>")], [])

    assert "<script>|" not in html(found)
    assert "\\<script\\>\\|\\`x\\`" in markdown(found)
