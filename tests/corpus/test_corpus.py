"""Hundreds of wrong and right stack files: none crashes, none passes in silence, and none is refused wrongly.

`wrong.yaml` and `right.yaml` were written from the documentation of the clouds, Kubernetes and GitHub, without the
tables of this program.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from tests.corpus.judge import Report, changed_text, judge

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.pure

FOLDER: Final = Path(__file__).parent


def rows(name: str) -> list[Any]:
    """Return the rows of a corpus as parameters, named by their change."""
    found = yaml.load((FOLDER / name).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return [pytest.param(row, id=f"{number}-{_title(row)}") for number, row in enumerate(found)]


def _title(row: Mapping[str, Any]) -> str:
    change = row.get("by") or [*row.get("set", {}).items(), *row.get("remove", ())]
    return "".join(letter if letter.isalnum() else "-" for letter in str(change))[:60].strip("-")


@pytest.mark.parametrize("row", rows("wrong.yaml"))
def test_a_wrong_stack_file_is_reported_at_its_path(row: Mapping[str, Any], tmp_path: Path) -> None:
    report = judge(changed_text(row), tmp_path)

    lines = report.errors if row.get("level") is None else (*report.errors, *report.warnings)
    # A line about the text of a file begins with its name and the position.
    assert [line for line in lines if line.startswith(row["at"]) or ("replace" in row and row["at"] in line)], report


@pytest.mark.parametrize("row", rows("right.yaml"))
def test_a_right_stack_file_is_not_refused(row: Mapping[str, Any], tmp_path: Path) -> None:
    assert judge(changed_text(row), tmp_path).errors == ()


@pytest.mark.parametrize(
    "base", ["staging", "eks-arc", "cirun-aws", "cirun-gcp", "vm-aws", "vm-gcp", "start-stop", "jarvis"]
)
def test_the_unchanged_stack_files_have_no_report(base: str, tmp_path: Path) -> None:
    """Otherwise a report about them could pass for one about a change."""
    assert judge(changed_text({"base": base}), tmp_path) == Report()
