"""Every check is listed once, has a documentation page, a row in the index and a mistake, and reports a fix."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

import pytest

import gpu_ci.checks
from gpu_ci.knowledge.verdict import Level, Verdict
from ops.cli.options import ROOT
from tests.mistakes.catalogue import MISTAKES, Mistake, Severity
from tests.mistakes.saying import check_answer, judged, write
from tests.mistakes.sound import settings_in, verdicts
from tests.stack_file.stacks import FILES

pytestmark = pytest.mark.pure

NAMES: Final = {check.CHECK for check in gpu_ci.checks.CHECKS}
"""The name of every check."""
FOLDER: Final = ROOT / "gpu_ci" / "checks"
INDEX: Final = ROOT / "docs" / "explanation" / "checks" / "index.md"
FOUND_BY_CHECKS: Final = [mistake for mistake in MISTAKES if mistake.level in {Severity.ERROR, Severity.WARNING}]

each_mistake = pytest.mark.parametrize("mistake", FOUND_BY_CHECKS, ids=lambda mistake: mistake.name.replace(" ", "-"))


def defines(tree: ast.Module) -> set[str]:
    """Return the names of `CHECK` and `check` that a module defines."""
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    constants = {ast.unparse(node.target) for node in tree.body if isinstance(node, ast.AnnAssign)}
    constants |= {ast.unparse(node.targets[0]) for node in tree.body if isinstance(node, ast.Assign)}
    return (functions | constants) & {"CHECK", "check"}


def unlisted(modules: dict[str, str], listed: set[str]) -> list[str]:
    """Return the modules that define a check and are not listed, and those that define only a part of one."""
    found = {name: defines(ast.parse(text)) for name, text in modules.items()}
    return sorted(name for name, parts in found.items() if parts and (len(parts) < 2 or name not in listed))


def test_every_module_with_a_check_is_in_the_tuple() -> None:
    modules = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.rglob("*.py") if path.stem != "__init__"}
    listed = [check.__name__.rpartition(".")[2] for check in gpu_ci.checks.CHECKS]  # type: ignore[attr-defined]  # modules

    assert unlisted(modules, set(listed)) == [], "not in gpu_ci.checks.CHECKS, or without CHECK or check(stack)"
    assert len(listed) == len(set(listed)) >= 10


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ('CHECK: Final = "new"\ndef check(stack): ...', ["new"]),
        ('CHECK: Final = "new"', ["new"]),
        ("def check(stack): ...", ["new"]),
        ("def room(): ...", []),
    ],
)
def test_a_check_outside_the_tuple_is_refused(text: str, refused: list[str]) -> None:
    assert unlisted({"new": text}, {"floor"}) == refused


def test_every_verdict_has_the_name_of_a_check() -> None:
    named = {
        name
        for path in FOLDER.rglob("*.py")
        for name in re.findall(r"\bcheck=([^,)\s]+)", path.read_text(encoding="utf-8"))
    }

    assert named <= {"CHECK"}


def test_every_check_finds_a_mistake_of_the_catalogue() -> None:
    assert {mistake.check for mistake in MISTAKES} >= NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_check_has_a_page_and_a_row_in_the_index(name: str) -> None:
    page = Verdict(check=name, level=Level.OK, subject="", reason="").chapter

    assert (ROOT / "docs" / page).is_file()
    assert f"]({name}.md)" in INDEX.read_text(encoding="utf-8")


def test_the_index_names_no_other_check() -> None:
    assert set(re.findall(r"\]\(([a-z-]+)\.md\)", INDEX.read_text(encoding="utf-8"))) == NAMES


@each_mistake
def test_the_checks_report(mistake: Mistake, tmp_path: Path) -> None:
    check_answer(judged(mistake.change, tmp_path), mistake)


@each_mistake
def test_every_problem_has_a_subject_a_reason_and_a_fix(mistake: Mistake, tmp_path: Path) -> None:
    found = verdicts(settings_in(write(mistake.change, tmp_path)))
    problems = [verdict for verdict in found if verdict.level is not Level.OK]

    assert problems
    assert [verdict for verdict in found if not (verdict.subject and verdict.reason)] == []
    assert [verdict for verdict in problems if not verdict.fix] == []
    assert {verdict.check for verdict in found} <= NAMES
    assert len(set(found)) == len(found)
    assert [verdict.reason for verdict in found if "None" in str(verdict) or "\n" in str(verdict)] == []


@pytest.mark.parametrize("name", FILES)
def test_committed_stacks_have_no_errors_and_examples_have_no_warnings(name: str) -> None:
    accepted = {Level.OK, Level.WARNING} if "/" not in name else {Level.OK}

    assert [str(one) for one in verdicts(settings_in(ROOT / name)) if one.level not in accepted] == []
