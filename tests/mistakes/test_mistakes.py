"""The plan reports every mistake of the catalogue: exit code, one line, path, words and fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from ops.outcome import Exit
from tests.mistakes.catalogue import MISTAKES, Mistake
from tests.mistakes.saying import check_answer, plan

pytestmark = pytest.mark.plan


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name.replace(" ", "-"))
def test_the_plan_reports(
    mistake: Mistake, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    check_answer(plan(mistake.change, tmp_path, capsys, monkeypatch), mistake)


def test_the_plan_reports_nothing_for_a_stack_file_without_mistakes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = plan({}, tmp_path, capsys, monkeypatch)

    assert (answer.code, answer.lines, answer.chapters) == (Exit.GOOD, (), ())


def test_the_names_of_mistakes_are_unique() -> None:
    names = [mistake.name for mistake in MISTAKES]

    assert sorted(set(names)) == sorted(names)
