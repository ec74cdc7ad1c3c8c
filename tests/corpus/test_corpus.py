"""Hundreds of wrong and right stack files: none crashes, none passes in silence, and none is refused wrongly.

`wrong.yaml` and `right.yaml` were written from the documentation of the clouds, Kubernetes and GitHub, without the
tables of this program.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.corpus.judge import BASES, Report, changed_text, judge

pytestmark = pytest.mark.pure

FOLDER: Final = Path(__file__).parent


def by_section(name: str) -> dict[str, list[Mapping[str, Any]]]:
    """Return the rows of a corpus by the first section that they change; `text` for the others."""
    found: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in yaml.load((FOLDER / name).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader):
        section = [*row.get("set", ()), *row.get("remove", ()), ":"][0].partition("/")[0]
        found["text" if ":" in section else section].append(row)
    return dict(found)


WRONG: Final = by_section("wrong.yaml")
RIGHT: Final = by_section("right.yaml")


def is_reported(row: Mapping[str, Any], report: Report) -> bool:
    lines = report.errors if row.get("level") is None else (*report.errors, *report.warnings)
    # A line about the text of a file begins with its name and the position.
    return any(line.startswith(row["at"]) or ("replace" in row and row["at"] in line) for line in lines)


@pytest.mark.parametrize("section", WRONG)
def test_a_wrong_stack_file_is_reported_at_its_path(section: str, tmp_path: Path) -> None:
    judged = [(row, judge(changed_text(row), tmp_path)) for row in WRONG[section]]

    assert [(row, report) for row, report in judged if not is_reported(row, report)] == []


@pytest.mark.parametrize("section", RIGHT)
def test_a_valid_stack_file_is_not_refused(section: str, tmp_path: Path) -> None:
    judged = [(row, judge(changed_text(row), tmp_path)) for row in RIGHT[section]]

    assert [(row, report.errors) for row, report in judged if report.errors] == []


@pytest.mark.parametrize("base", BASES)
def test_the_unchanged_stack_files_have_no_report(base: str, tmp_path: Path) -> None:
    """Otherwise a report about them could pass for one about a change."""
    assert judge(changed_text({"base": base}), tmp_path) == Report()
