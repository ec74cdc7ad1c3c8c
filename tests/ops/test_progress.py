"""The progress of a long command: one line on a terminal, one line a minute in a log."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from ops import progress
from ops.progress import Progress

pytestmark = pytest.mark.pure

LONG = "building " + "x" * 200


class Terminal(io.StringIO):
    """A file that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_log_gets_every_stage_and_one_step_a_minute() -> None:
    log, now = io.StringIO(), 0.0
    line = Progress(Console(file=log, width=40), clock=lambda: now)
    line.stage("building")
    for _ in range(300):
        now += 1
        line.step(f"building: {now:.0f} s")
        if now == 130:
            line.stage("previewing")

    assert log.getvalue().splitlines() == [
        "building", "building: 60 s", "building: 120 s", "previewing", "building: 190 s", "building: 250 s",
    ]  # fmt: skip


def test_a_log_line_is_not_cut_and_not_parsed_as_markup() -> None:
    log = io.StringIO()
    with progress.shown(f"{LONG} [bold]", Console(file=log, width=40)):
        pass

    assert log.getvalue() == f"{LONG} [bold]\n"


def test_forced_colours_do_not_enable_the_terminal_display() -> None:
    log = io.StringIO()
    with progress.shown("building", Console(file=log, force_terminal=True, force_interactive=True)) as line:
        line.step("building: 1 s")

    assert log.getvalue() == "building\n"


def test_a_terminal_shows_all_progress_on_one_line() -> None:
    file = Terminal()
    with progress.shown(LONG, Console(file=file, width=40, force_terminal=True, force_interactive=True)) as line:
        line.stage("previewing")
        line.step(f"{LONG}\nmore")

    printed = file.getvalue()
    assert "xxx…" in printed
    assert printed.count("\n") == 1
