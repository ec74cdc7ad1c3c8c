"""One edit of each kind, on the real engine: exactly the lines of its golden file.

With `WRITE_GOLDEN=1` in the environment, the tests write the files. Read their difference like the difference of code.
"""

from __future__ import annotations

import io
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from config import pins
from ops.cli import terminal
from ops.plan.stack_file import read
from ops.report import text
from ops.report.comparison import Comparison, compare
from tests.report.conftest import STAGING
from tests.report.edits import EDITS, edited

if TYPE_CHECKING:
    from ops.engine.pulumi_cli import Found
    from ops.report.base import Base

pytestmark = pytest.mark.engine

GOLDEN = Path(__file__).parent / "golden"


def shown(found: Comparison) -> str:
    """The text of the terminal, without colours."""
    out = io.StringIO()
    text.show(Console(file=out, width=160, theme=terminal._THEME, highlight=False), found)
    return out.getvalue()


def compared(cli: Found, base: Base, folder: Path, name: str) -> Comparison:
    """The comparison of staging with one edit."""
    path = folder / STAGING.name
    path.write_text(edited(STAGING.read_text(), name))
    return compare(cli, base, read(path))


def check(name: str, found: str) -> None:
    """Compare with a golden file, or write it."""
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("WRITE_GOLDEN"):
        path.write_text(found)
    assert found == path.read_text()


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_has_exactly_these_effects(cli: Found, staging: Base, tmp_path: Path, name: str) -> None:
    check(name, shown(compared(cli, staging, tmp_path, name)))


def test_a_new_version_of_a_chart_is_an_update(cli: Found, staging: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pins, "DEVICE_PLUGIN_CHART", "0.21.0")

    check("chart-version", shown(compare(cli, staging, read(STAGING))))


def test_every_golden_file_belongs_to_an_edit() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == {*EDITS, "chart-version"}


def test_no_secret_is_in_a_comparison(cli: Found, staging: Base, tmp_path: Path) -> None:
    path = tmp_path / STAGING.name
    path.write_text(STAGING.read_text().replace("installation-id: 51234567", "installation-id: 51234568"))

    found = compare(cli, staging, read(path))

    everything = json.dumps(found.to_data())
    assert "PRIVATE KEY" not in everything + shown(found)
    assert "    stringData.github_app_installation_id: (secret) -> (secret)  (forces the replacement)" in shown(found)


def test_a_comparison_with_a_stack_that_does_not_exist_creates_everything(cli: Found, staging: Base) -> None:
    found = compare(cli, replace(staging, state=None), read(STAGING))

    assert {change.effect.value for change in found.changes} == {"create"}
    assert len(found.changes) > 150
    assert "does not exist there" in shown(found)
