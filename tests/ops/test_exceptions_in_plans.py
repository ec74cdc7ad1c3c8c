"""Exceptions in the output of `plan`: allowed findings of checks and rules, and useless exceptions to rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from gpu_ci.policy.exceptions import TODAY
from ops.cli import main as cli
from ops.outcome import Exit
from tests.mistakes.catalogue import merge
from tests.mistakes.saying import WIDE, write

pytestmark = pytest.mark.plan

OPEN: Final[dict[str, Any]] = {"cluster": {"endpoint": {"public": ["0.0.0.0/0"]}}}
RULE: Final = {"check": "no-ingress-from-everywhere", "subject": "Cluster cluster"}
WARNING: Final = {"check": "plausibility", "subject": "cluster.endpoint.public[0]"}
WHY: Final = {"reason": "the office moves in December", "until": "2026-12-18"}
BOTH: Final = {"exceptions": {"office": {**RULE, **WHY}, "office-warning": {**WARNING, **WHY}}}
TOO_LARGE: Final = {"runners": {"gpu-t4": {"needs": {"cpu": 4, "memory": "16Gi"}}}}


def planned(
    change: dict[str, Any], folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> tuple[int, str, dict[str, Any]]:
    """The exit code, the text and the JSON of a plan. A refused plan has no JSON."""
    monkeypatch.setenv("COLUMNS", WIDE)
    target = folder / "plan.json"
    code = cli.run(["plan", "--file", str(write(change, folder)), "--json", str(target)])
    return code, capsys.readouterr().out, json.loads(target.read_text()) if target.exists() else {}


def test_a_plan_lists_the_allowed_findings_with_reason_and_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, text, data = planned(merge(OPEN, BOTH), tmp_path, capsys, monkeypatch)
    broken = "vpcConfig.publicAccessCidrs grants access to 0.0.0.0/0; list the ranges that need access"

    assert code == Exit.GOOD
    assert (
        f"allowed  Cluster cluster  no-ingress-from-everywhere\n         {broken}\n"
        "         until 2026-12-18, by exceptions.office: the office moves in December\n"
    ) in text
    assert "allowed  cluster.endpoint.public[0]  plausibility\n" in text
    assert text.rstrip().endswith("; no errors, no warnings, 2 allowed findings")
    assert data["findings"] == []
    assert data["exceptions"][0] == {"name": "office", **RULE, **WHY, "state": "valid", "allows": [broken]}
    assert [one["level"] for one in data["verdicts"] if one["subject"] == WARNING["subject"]] == ["allowed"]


def test_the_finding_is_an_error_without_the_exception_and_after_its_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, data = planned(OPEN, tmp_path, capsys, monkeypatch)
    assert (code, [one["name"] for one in data["findings"]]) == (Exit.FINDING, ["cluster"])

    monkeypatch.setenv(TODAY, "2026-12-19")
    code, text, _ = planned(merge(OPEN, BOTH), tmp_path, capsys, monkeypatch)
    assert code == Exit.FINDING
    assert "error    Cluster cluster  no-ingress-from-everywhere\n" in text
    assert "warning  cluster.endpoint.public[0]  plausibility\n" in text
    assert "it ended on 2026-12-18, so no-ingress-from-everywhere of Cluster cluster is not allowed any more\n" in text
    assert "allowed" not in text.replace("not allowed", "")


def test_an_exception_to_a_rule_that_no_resource_breaks_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, text, data = planned({"exceptions": {"office": {**RULE, **WHY}}}, tmp_path, capsys, monkeypatch)

    assert code == Exit.GOOD
    assert "warning  exceptions.office  exceptions\n" in text
    assert "no-ingress-from-everywhere reports nothing at Cluster cluster\n         → remove it\n" in text
    assert data["exceptions"][0]["allows"] == []


def test_a_refused_plan_lists_its_allowed_findings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, text, _ = planned(merge(merge(OPEN, BOTH), TOO_LARGE), tmp_path, capsys, monkeypatch)

    assert code == Exit.FINDING
    assert "error    runners.gpu-t4  fit\n" in text
    assert "allowed  Cluster cluster  no-ingress-from-everywhere\n" in text
    assert "error    Cluster cluster" not in text
    assert "reports nothing" not in text


def test_an_allowed_error_does_not_stop_the_plan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = {"exceptions": {"large": {"check": "fit", "subject": "runners.gpu-t4", **WHY}}}

    code, text, _ = planned(merge(TOO_LARGE, allowed), tmp_path, capsys, monkeypatch)

    assert code == Exit.GOOD
    assert "allowed  runners.gpu-t4  fit\n" in text
