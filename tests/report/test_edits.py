"""One edit of each kind, on the real engine: exactly the lines of its golden file.

With `WRITE_GOLDEN=1` in the environment, the tests write the files. Read their difference like the difference of code.
"""

from __future__ import annotations

import io
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from gpu_ci.knowledge import pins
from gpu_ci.knowledge.verdict import Level
from gpu_ci.stack_file.reading.load import StackFileError
from ops.cli import since as module
from ops.cli import terminal
from ops.cli.options import ROOT
from ops.cli.since import since
from ops.engine.process import Cli
from ops.engine.pulumi_cli import Found
from ops.plan import planning
from ops.plan.stack_file import read
from ops.report import text
from ops.report.base import Base
from ops.report.comparison import Comparison, compare
from tests.report.conftest import STAGING
from tests.report.edits import EDITS, edited

pytestmark = pytest.mark.engine

GOLDEN = Path(__file__).parent / "golden"


def console(out: io.StringIO) -> Console:
    """A terminal without colours."""
    return Console(file=out, width=160, theme=terminal._THEME, highlight=False)


def shown(found: Comparison) -> str:
    """The changes, as the terminal shows them."""
    out = io.StringIO()
    text.show(console(out), found)
    return out.getvalue()


def findings(made: planning.Planning | planning.RefusedPlan) -> str:
    """The broken rules, the errors, the warnings and the allowed findings, as the terminal shows them."""
    problems = [verdict for verdict in made.verdicts if verdict.level is not Level.OK]
    out = io.StringIO()
    planning.show_found(console(out), problems, made.findings, made.exceptions)
    return out.getvalue()


def check(name: str, found: str) -> None:
    """Compare with a golden file, or write it."""
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("WRITE_GOLDEN"):
        path.write_text(found)
    assert found == path.read_text()


@pytest.mark.parametrize("name", EDITS)
@pytest.mark.usefixtures("cli")
def test_an_edit_has_exactly_these_effects(
    staging: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(module, "recorded_base", lambda *_: staging)
    path = tmp_path / STAGING.name
    path.write_text(edited(STAGING.read_text(), name))

    made, found = since(staging.name, read(path))

    check(name, findings(made) + shown(found))


def test_a_fault_of_the_stack_file_is_reported_before_the_base_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "recorded_base", lambda *_: pytest.fail("the base runs"))
    path = tmp_path / STAGING.name
    path.write_text(STAGING.read_text().replace("gpu-pools:", "gpu-pool:"))

    with pytest.raises(StackFileError, match=r"gpu-pool.* did you mean \"?gpu-pools"):
        since("origin/main", read(path))


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


def test_the_page_shows_a_real_output() -> None:
    page = (ROOT / "docs/how-to/review-a-change.md").read_text()
    output = (GOLDEN / "instance-types.txt").read_text().partition("\n\n")[2]

    assert f"```text\n{output}```" in page
    for picture in ("report-comment.png", "report-page.png", "report-page-dark.png"):
        assert f"../images/{picture}" in page
        assert (ROOT / "docs/images" / picture).stat().st_size < 200_000


def test_a_comparison_starts_few_processes(cli: Found, staging: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each process of the CLI costs a second of the reviewer, and each preview runs the program once."""
    started: list[str] = []
    whole = Cli.run

    def run(self: Cli, *args: str, **more: str) -> str:
        started.append(args[0])
        return whole(self, *args, **more)

    monkeypatch.setattr(Cli, "run", run)
    compare(cli, staging, read(STAGING))

    assert started == ["stack", "config", "stack", "stack", "preview"]
