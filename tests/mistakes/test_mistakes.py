"""The plan reports every mistake of the catalogue: exit code, one line, path, words and fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ops.outcome import Exit
from tests.mistakes.catalogue import MISTAKES, Mistake, Told
from tests.mistakes.saying import plan

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.plan


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name.replace(" ", "-"))
def test_the_plan_reports(
    mistake: Mistake, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = plan(mistake.change, tmp_path, capsys, monkeypatch)

    stopping = (Told.FAULT, Told.ERROR)
    told = stopping if mistake.told is not Told.WARNING else (*stopping, Told.WARNING)
    level = Told.ERROR if mistake.told is Told.RULE else mistake.told
    lines = [line for line in answer.lines if (line.told, line.path) == (level, mistake.path)]
    matching = [line for line in lines if all(words in line.text for words in mistake.words)]
    assert answer.code == mistake.told.exit
    assert answer.paths(*told) == sorted([mistake.path, *mistake.beside])
    assert len(matching) == 1, [line.text for line in lines]
    assert matching[0].check == mistake.check
    if mistake.check and mistake.told is not Told.RULE:
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
