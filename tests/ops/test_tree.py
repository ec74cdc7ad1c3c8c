"""The tree of a plan and the verdicts below it, in eighty columns."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from gpu_ci.knowledge.verdict import Level, Verdict
from ops.cli import terminal
from ops.outcome import Exit
from ops.plan import planning, tree, verdicts
from ops.plan.model import Plan
from ops.plan.planning import Planning
from tests.ops.small import BUCKET, KEY, ROLE, plan, planned

pytestmark = pytest.mark.pure

BOX = planned("gpu-ci:aws:Box", "box")


def shown(made: Plan, width: int = 80) -> list[str]:
    """Return the lines of the tree."""
    console = Console(file=io.StringIO(), width=width, theme=terminal._THEME, highlight=False)
    console.print(tree.tree(made))
    return [line.rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def test_a_component_has_its_count_and_its_resources() -> None:
    inner = planned("gpu-ci:aws:Inner", "inner", parent=BOX.urn)
    key = planned(KEY, "box", parent=BOX.urn)
    bucket = planned(BUCKET, "inner-logs", parent=inner.urn)

    assert shown(plan(BOX, key, inner, bucket)) == [
        "small",
        "└── box  Box, 2",
        "    ├── Key",
        "    └── inner  Inner, 1",
        "        └── Bucket  logs",
    ]


def test_resources_of_one_type_share_a_line() -> None:
    keys = [planned(KEY, f"box-{name}", parent=BOX.urn) for name in ("a", "b", "c")]
    roles = [planned(ROLE, f"box-{name}", parent=BOX.urn) for name in ("x", "y")]

    assert shown(plan(BOX, keys[0], *roles, *keys[1:])) == [
        "small",
        "└── box  Box, 5",
        "    ├── Key x3  a, b, c",
        "    └── Role x2  x, y",
    ]


def test_resources_named_like_their_component_share_a_line() -> None:
    key, role = planned(KEY, "box", parent=BOX.urn), planned(ROLE, "box", parent=BOX.urn)
    kept = planned(BUCKET, "box", parent=BOX.urn, protect=True)

    assert shown(plan(BOX, key, kept, role)) == [
        "small",
        "└── box  Box, 3",
        "    ├── Key, Role",
        "    └── Bucket protected",
    ]


def test_protected_secret_and_kept_resources_are_marked() -> None:
    provider = planned("pulumi:providers:kubernetes", "k8s", secret_paths=frozenset({"kubeconfig"}))
    key = planned(KEY, "box-a", parent=BOX.urn, protect=True, retain_on_delete=True)

    assert shown(plan(provider, BOX, key)) == [
        "small",
        "├── provider kubernetes secret",
        "└── box  Box, 1",
        "    └── Key protected kept  a",
    ]


def test_lines_fit_the_terminal() -> None:
    keys = [planned(KEY, f"box-{'long' * 5}-{letter}", parent=BOX.urn) for letter in "abcdefgh"]

    assert max(map(len, shown(plan(BOX, *keys), width=80))) <= 80


def test_names_are_not_interpreted_as_markup() -> None:
    assert shown(plan(planned("gpu-ci:aws:Box", "[red]box[/red]")))[1] == "└── [red]box[/red]  Box, 0"


def verdict_lines(*found: Verdict, why: bool = False) -> list[str]:
    console = Console(file=io.StringIO(), width=80, theme=terminal._THEME, highlight=False)
    verdicts.show(console, found, why=why)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def verdict(level: Level, check: str = "fit", fix: str = "") -> Verdict:
    return Verdict(check=check, level=level, subject="runners.gpu-t4", reason="a reason", fix=fix)


def test_errors_come_before_warnings_and_passed_checks_are_counted() -> None:
    lines = verdict_lines(
        verdict(Level.OK),
        verdict(Level.WARNING, "counts"),
        verdict(Level.OK, "quota"),
        verdict(Level.ERROR, fix="do"),
    )

    assert lines == [
        "error    runners.gpu-t4  fit",
        "         a reason",
        "         → do",
        "         why: docs/explanation/checks/fit.md",
        "warning  runners.gpu-t4  counts",
        "         a reason",
        "         why: docs/explanation/checks/counts.md",
        "ok       2 passed",
        "         fit 1, quota 1",
    ]


def test_the_steps_of_an_error_follow_it_once() -> None:
    found = [
        replace(verdict(level, fix="do"), chain=("a", step))
        for level, step in ((Level.ERROR, "b"), (Level.ERROR, "c"), (Level.WARNING, "d"))
    ]

    assert [line.strip() for line in verdict_lines(*found) if line.strip()[0] in "·→"] == [
        "→ do", "· a", "· b", "→ do", "· c", "→ do",
    ]  # fmt: skip


def test_why_prints_passed_checks_and_all_steps() -> None:
    lines = verdict_lines(
        replace(verdict(Level.OK), chain=("a",)), replace(verdict(Level.WARNING), chain=("b",)), why=True
    )

    assert lines == [
        "warning  runners.gpu-t4  fit",
        "         a reason",
        "         · b",
        "         why: docs/explanation/checks/fit.md",
        "ok       runners.gpu-t4  fit",
        "         a reason",
        "         · a",
    ]


def test_costs_are_always_shown() -> None:
    assert verdict_lines(verdict(Level.OK, "money")) == [
        "ok       runners.gpu-t4  money",
        "         a reason",
        "ok       1 passed",
        "         money 1",
    ]


def test_the_page_of_a_check_is_named_once() -> None:
    chapters = [line for line in verdict_lines(*[verdict(Level.ERROR), verdict(Level.WARNING)] * 2) if "why:" in line]

    assert chapters == ["         why: docs/explanation/checks/fit.md"]


def test_a_long_reason_is_wrapped_and_a_command_in_it_is_not_broken() -> None:
    command = "aws-service-quotas-request-service-quota-increase--region--us-west-2--quota-code"
    long = Verdict(check="quota", level=Level.ERROR, subject="x", reason="word " * 20, fix=f"run {command}")

    lines = verdict_lines(long)

    assert [line for line in lines if len(line) > 80] == [f"           {command}"]
    assert lines[1].startswith("         word")


def test_an_error_or_a_broken_rule_is_a_finding() -> None:
    rule = planning.findings(plan(BOX, planned(KEY, "box", parent=BOX.urn)))

    assert Planning(plan=plan(BOX), findings=()).exit is Exit.GOOD
    assert Planning(plan=plan(BOX, verdicts=(verdict(Level.WARNING),)), findings=()).exit is Exit.GOOD
    assert Planning(plan=plan(BOX, verdicts=(verdict(Level.ERROR),)), findings=()).exit is Exit.FINDING
    assert [finding.rule for finding in rule] == ["everything-is-tagged", "data-is-encrypted"]
    assert Planning(plan=plan(BOX), findings=rule).exit is Exit.FINDING


def test_the_summary_counts_by_package() -> None:
    provider = planned("pulumi:providers:aws", "aws")
    made = plan(provider, BOX, planned(KEY, "box", parent=BOX.urn), verdicts=(verdict(Level.WARNING),))

    assert planning.summary(Planning(plan=made, findings=())) == (
        "small: 1 resource (aws 1) in 1 component; no errors, 1 warning"
    )
