"""The report: risk, findings, cost, Markdown and HTML."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_ci.knowledge.verdict import error
from gpu_ci.policy.rules import Finding
from ops.report.base import Base
from ops.report.html import html
from ops.report.markdown import LIMIT, markdown
from ops.report.meaning import meaning
from ops.report.report import Risk
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


def test_a_report_without_changes_has_no_risk() -> None:
    assert (made().risk, made().risk_reason) == (Risk.NONE, "nothing changes")


def test_an_error_of_a_check_blocks() -> None:
    report = made(UPDATED, verdicts=[error("fit", "runners.a", "it does not fit", "use less")])

    assert (report.risk, report.risk_reason) == (Risk.BLOCKED, "a check or a rule refuses the stack")


def test_a_broken_rule_blocks_and_is_listed() -> None:
    report = made(UPDATED, findings=[BROKEN])

    assert report.risk is Risk.BLOCKED
    assert "- **rule** `SecurityGroup web` (no-public-ingress): it is open" in markdown(report)


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
    assert "| with the stated jobs | | 440.00 | |" in text


def test_the_cost_is_compared_by_case_and_by_part() -> None:
    text = markdown(made(UPDATED))

    assert "| with the stated jobs | 415.23 | 440.00 | +24.77 |" in text
    assert "| `gpu-pools.t4` | 0.00 | 57.00 → **81.77** | 0.00 |" in text
    assert "`cluster`" not in text


def test_the_comment_has_the_marker_of_its_stack() -> None:
    assert markdown(made()).startswith("<!-- gpu-ci report: staging -->\n")


@given(
    number=st.integers(0, 400), length=st.sampled_from([0, 50, 200, 5_000]), name=st.sampled_from(["log", "x" * 900])
)
@settings(max_examples=30, deadline=None)
def test_a_comment_never_exceeds_the_limit_of_github(number: int, length: int, name: str) -> None:
    steps = [
        step("update", LOG, f"{name}-{one}", changed={"name": "update"}, old={"name": "x" * length}, new={"name": "y"})
        for one in range(number)
    ]
    text = markdown(made(*steps))
    shown = text.count("<details>") + len(re.findall(r"^- `~ update", text, re.MULTILINE))
    left = re.search(r"\*(\d+) more changes do not fit here", text)

    assert len(text) <= LIMIT < 65_536
    assert shown + (int(left[1]) if left else 0) == number


@pytest.mark.parametrize("size", [1, 100, 500])
def test_every_section_of_a_comment_is_limited(size: int) -> None:
    long = "`x` " * size
    base = Base(name="main", commit="1", faults=(long,) * size, uncommitted=(long,) * size, plan=None)
    steps = [replace(REPLACED, urn=f"{REPLACED.urn}-{one}", was=f"{REPLACED.urn}-{one}") for one in range(300)]
    verdicts = [replace(WARNING, subject=f"{one}-{long}", reason=long, fix=long) for one in range(300)]

    text = markdown(made(*steps, base=base, fault=f"{long}\n" * size, verdicts=verdicts))

    assert len(text) <= LIMIT
    assert text.count("````") % 2 == 0
    assert text.count("<details>") == text.count("</details>")


def test_markdown_shows_names_unchanged() -> None:
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
    bars = [attributes for _, attributes in found.seen if (attributes.get("class") or "").startswith("bar ")]

    assert rows == [
        "replace eks/nodegroup pool-t4 pool-t4 gpupool instancetypes[0]",
        "update cloudwatch/loggroup cluster cluster gpupool retentionindays",
    ]
    assert len(bars) == 6


def test_the_report_is_plain_data() -> None:
    data = json.loads(json.dumps(made(REPLACED).to_data()))

    assert data["risk"] == {"level": "high", "reason": "jobs end or data is lost: eks/nodeGroup pool-t4"}
    assert data["changes"][0]["properties"] == [
        {"path": "instanceTypes[0]", "old": "g4dn.xlarge", "new": "g5.xlarge", "forces": True, "lines": []}
    ]


def test_a_new_warning_without_a_changed_resource_is_the_reason() -> None:
    assert made(verdicts=[WARNING]).risk_reason == "no resource changes, but a check has a new warning"


def test_the_report_lists_each_effect_on_resources() -> None:
    report = made(UPDATED, step("create", LOG, "audit"))

    assert report.risk_reason == "no job ends and no data is lost; the change only creates and updates resources"


def test_a_fault_of_the_engine_is_shown() -> None:
    report = made(fault="cluster: Preview failed")

    assert report.risk_reason == "the engine cannot preview the change"
    assert "cluster: Preview failed" in markdown(report)
    assert "cluster: Preview failed" in html(report)


def test_the_picture_has_one_node_for_each_changed_resource() -> None:
    text = markdown(made(REPLACED, UPDATED))

    assert text.count(":::loud") == 1
    assert text.count(":::update") == 1
    assert 'subgraph g0["pool-t4 GpuPool"]' in text


def test_a_comparison_is_plain_data() -> None:
    assert json.dumps(comparison(REPLACED).to_data())


def test_the_replacement_of_a_running_cluster_blocks() -> None:
    cluster = step(
        "replace",
        "aws:eks/cluster:Cluster",
        "cluster",
        changed={"roleArn": "update-replace"},
        old={"roleArn": "a"},
        new={"roleArn": "b"},
    )
    report = made(cluster, step("same", "kubernetes:core/v1:Namespace", "arc"))

    assert report.risk is Risk.BLOCKED
    assert report.risk_reason == "the cluster cannot be replaced while 1 object of the stack is in it"
    for text in (markdown(report), html(report)):
        assert "Forced by Cluster cluster: roleArn: a" in text
        assert "Create a second stack file" in text
    assert report.to_data()["refusal"]["forces"] == [
        {"resource": "Cluster cluster", "path": "roleArn", "old": "a", "new": "b"}
    ]


def test_an_update_that_stops_a_machine_or_ends_jobs_is_named() -> None:
    cases = {
        ("aws:ec2/instance:Instance", "instanceType"): "the machine stops",
        ("gcp:compute/instance:Instance", "machineType"): "the machine stops",
        ("aws:eks/nodeGroup:NodeGroup", "taints[1].effect"): "a taint with the effect NoExecute",
        ("aws:eks/nodeGroup:NodeGroup", "launchTemplate.version"): "EKS replaces every node",
        ("aws:ec2/route:Route", "natGatewayId"): "open connections",
        ("aws:ec2/instance:Instance", "tags.team"): "None",
        ("aws:eks/nodeGroup:NodeGroup", "scalingConfig.maxSize"): "None",
    }
    found = {case: getattr(meaning("update", case[0], {}, [case[1]]), "loses", "None") for case in cases}

    assert {case: text for case, text in found.items() if not text.startswith(cases[case])} == {}
