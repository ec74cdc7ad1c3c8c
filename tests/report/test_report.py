"""The report: risk, findings, cost, Markdown and HTML."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu.verdict import error
from ops.report.base import Base
from ops.report.html import html
from ops.report.markdown import LIMIT, markdown
from ops.report.report import Risk
from policy.rules import Finding
from tests.report.made import COST, LOG, REPLACED, UPDATED, WARNING, comparison, made, step

pytestmark = pytest.mark.pure

BROKEN = Finding(rule="no-public-ingress", type="aws:ec2/securityGroup:SecurityGroup", name="web", problem="it is open")
NASTY = "`<script>alert(1)</script>` | @everyone [x](y)"


def test_a_change_that_ends_jobs_is_a_high_risk() -> None:
    report = made(REPLACED, UPDATED)

    assert (report.risk, report.risk_reason) == (Risk.HIGH, "jobs end or data is lost: eks/nodeGroup pool-t4")


def test_a_harmless_change_is_a_low_risk() -> None:
    report = made(UPDATED)

    assert report.risk is Risk.LOW
    assert report.risk_reason == "no job ends and no data is lost; the change only updates resources"


def test_no_change_is_no_risk() -> None:
    assert (made().risk, made().risk_reason) == (Risk.NONE, "nothing changes")


def test_an_error_of_a_check_blocks() -> None:
    report = made(UPDATED, verdicts=[error("fit", "runners.a", "it does not fit", "use less")])

    assert (report.risk, report.risk_reason) == (Risk.BLOCKED, "a check or a rule refuses the stack")


def test_a_broken_rule_blocks_and_is_listed() -> None:
    report = made(UPDATED, findings=[BROKEN])

    assert report.risk is Risk.BLOCKED
    assert "- **rule** `aws:ec2/securityGroup:SecurityGroup web` (no-public-ingress): it is open" in markdown(report)


def test_findings_are_new_fixed_or_unchanged() -> None:
    old = {"level": "warning", "check": "spot-plan", "subject": "gpu-pools.t4", "reason": "r", "fix": "f"}
    removed = {**old, "subject": "gpu-pools.old"}
    base = Base(name="main", commit="1", plan={"verdicts": [old, removed], "findings": [], "cost": COST})
    fresh = replace(WARNING, subject="gpu-pools.new")

    report = made(UPDATED, base=base, verdicts=[WARNING, fresh])

    assert [line.subject for line in report.new] == ["gpu-pools.new"]
    assert [line.subject for line in report.fixed] == ["gpu-pools.old"]
    assert [line.subject for line in report.unchanged] == ["gpu-pools.t4"]


def test_a_base_that_does_not_run_is_shown_and_the_rest_is_reported() -> None:
    base = Base(name="main", commit="1", faults=("gpu-ci:aws: unknown key", "1 fault in the stack file."))

    text = markdown(made(base=base))

    assert "At `main` the stack does not run" in text
    assert "gpu-ci:aws: unknown key" in text
    assert "| with the stated jobs |  | 440.00 USD |  |" in text


def test_the_cost_is_compared_by_case_and_by_part() -> None:
    text = markdown(made(UPDATED))

    assert "| with the stated jobs | 415.23 USD | 440.00 USD | +24.77 USD |" in text
    assert "| `gpu-pools.t4` | 57.00 USD | 81.77 USD | +24.77 USD |" in text
    assert "`cluster`" not in text


def test_the_comment_has_a_marker_by_which_it_is_found_again() -> None:
    assert markdown(made()).startswith("<!-- gpu-ci report: staging -->\n")


@given(st.integers(0, 400), st.integers(0, 200))
def test_a_comment_never_exceeds_the_limit_of_github(number: int, length: int) -> None:
    steps = [
        step("update", LOG, f"log-{one}", changed={"name": "update"}, old={"name": "x" * length}, new={"name": "y"})
        for one in range(number)
    ]
    text = markdown(made(*steps))
    shown = text.count("<details>")
    left = re.search(r"\*(\d+) more changes do not fit here", text)

    assert len(text) <= LIMIT < 65_536
    assert shown + (int(left[1]) if left else 0) == number


def test_markdown_shows_names_as_they_are() -> None:
    report = made(step("update", LOG, NASTY, changed={"a": "update"}, old={"a": "```"}, new={"a": NASTY}))

    text = markdown(report)

    assert "<script>" not in re.sub(r"````text\n.*?\n````", "", text, flags=re.DOTALL)
    assert "````text\na: ``` -> `<script>alert(1)</script>` | @everyone [x](y)\n````" in text


class Tags(HTMLParser):
    """The tags and the attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def page(text: str) -> Tags:
    """A page, read."""
    tags = Tags()
    tags.feed(text)
    return tags


def test_the_page_needs_no_other_file() -> None:
    found = page(html(made(REPLACED, UPDATED)))

    assert [attributes for _, attributes in found.seen if {"src", "href"} & attributes.keys()] == []
    assert sum(tag == "script" for tag, _ in found.seen) == 1


def test_the_page_escapes_every_text() -> None:
    found = page(html(made(step("update", LOG, NASTY, changed={"a": "update"}, old={"a": NASTY}, new={"a": "b"}))))

    assert sum(tag == "script" for tag, _ in found.seen) == 1
    assert NASTY in "".join(found.text)


def test_the_page_has_a_row_for_each_change_and_a_bar_for_each_case() -> None:
    found = page(html(made(REPLACED, UPDATED)))
    rows = [attributes["data-words"] for _, attributes in found.seen if "data-words" in attributes]
    bars = [attributes for _, attributes in found.seen if (attributes.get("class") or "").startswith("bar")]

    assert (
        rows
        == ["update cloudwatch/loggroup cluster retentionindays", "replace eks/nodegroup pool-t4 instancetypes[0]"][
            ::-1
        ]
    )
    assert len(bars) == 6


def test_the_report_is_plain_data() -> None:
    data = json.loads(json.dumps(made(REPLACED).to_data()))

    assert data["risk"] == {"level": "high", "reason": "jobs end or data is lost: eks/nodeGroup pool-t4"}
    assert data["changes"][0]["properties"] == [
        {"path": "instanceTypes[0]", "old": "g4dn.xlarge", "new": "g5.xlarge", "forces": True}
    ]


def test_a_fault_of_the_engine_is_shown() -> None:
    report = made(fault="cluster: Preview failed")

    assert report.risk_reason == "the engine cannot preview the change"
    assert "cluster: Preview failed" in markdown(report)
    assert "cluster: Preview failed" in html(report)


def test_the_picture_has_one_node_for_each_changed_resource() -> None:
    text = markdown(made(REPLACED, UPDATED))

    assert text.count(":::replace") == 1
    assert text.count(":::update") == 1
    assert 'subgraph g0["GpuPool"]' in text


def test_a_comparison_is_plain_data() -> None:
    assert json.dumps(comparison(REPLACED).to_data())
