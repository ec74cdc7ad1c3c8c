"""The plan reports every mistake of the catalogue: exit code, one line, path, words and fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ops.outcome import Exit
from tests.mistakes.catalogue import MISTAKES, Mistake, Severity
from tests.mistakes.saying import plan

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.plan


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name.replace(" ", "-"))
def test_the_plan_reports(
    mistake: Mistake, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = plan(mistake.change, tmp_path, capsys, monkeypatch)

    stopping = (Severity.FAULT, Severity.ERROR)
    levels = stopping if mistake.level is not Severity.WARNING else (*stopping, Severity.WARNING)
    level = Severity.ERROR if mistake.level is Severity.RULE else mistake.level
    lines = [line for line in answer.lines if (line.level, line.path) == (level, mistake.path)]
    matching = [line for line in lines if all(words in line.text for words in mistake.words)]
    assert answer.code == mistake.level.exit
    assert answer.paths(*levels) == sorted([mistake.path, *mistake.also_at])
    assert len(matching) == 1, [line.text for line in lines]
    assert matching[0].check == mistake.check
    if mistake.check and mistake.level is not Severity.RULE:
        assert " → " in matching[0].text
        assert f"docs/explanation/checks/{mistake.check}.md" in answer.chapters


def test_the_plan_reports_nothing_for_a_stack_file_without_mistakes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = plan({}, tmp_path, capsys, monkeypatch)

    assert (answer.code, answer.lines, answer.chapters) == (Exit.GOOD, (), ())


def test_the_names_of_mistakes_are_unique() -> None:
    names = [mistake.name for mistake in MISTAKES]

    assert sorted(set(names)) == sorted(names)
