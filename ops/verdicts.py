"""Verdicts on a terminal: the worst first, each with its offender, its reason and the way out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from rich.markup import escape
from rich.padding import Padding
from rich.text import Text

from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

_WIDTH: Final = len("warning")
_INDENT: Final = _WIDTH + 2


def show(console: Console, verdicts: Sequence[Verdict]) -> None:
    """Print what must change, then what may surprise; what holds is counted."""
    for level in (Level.ERROR, Level.WARNING):
        for verdict in verdicts:
            if verdict.level is level:
                _one(console, verdict)
    held = Counter(verdict.check for verdict in verdicts if verdict.level is Level.OK)
    if held:
        checks = ", ".join(f"{check} {count}" for check, count in sorted(held.items()))
        console.print(_labelled("ok", f"{held.total()} hold: {checks}"))


def counts(verdicts: Sequence[Verdict]) -> str:
    """How many errors and warnings there are, in words."""
    by_level = Counter(verdict.level for verdict in verdicts)
    return f"{counted(by_level[Level.ERROR], 'error')}, {counted(by_level[Level.WARNING], 'warning')}"


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 error`, `no errors`."""
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _one(console: Console, verdict: Verdict) -> None:
    console.print(_labelled(str(verdict.level), f"[path]{escape(verdict.offender)}[/]  [quiet]{verdict.check}[/]"))
    console.print(Padding(Text(verdict.reason), (0, 0, 0, _INDENT)))
    if verdict.way_out:
        console.print(Padding(f"[ok]→[/] {escape(verdict.way_out)}", (0, 0, 0, _INDENT)))


def _labelled(level: str, text: str) -> Padding:
    """`text` behind the level's name; wrapped lines stay clear of it."""
    from rich.table import Table  # noqa: PLC0415  # the one place that lays out in columns

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=_WIDTH, no_wrap=True)
    grid.add_column(ratio=1)
    grid.add_row(f"[{level}]{level}[/]", text)
    return Padding(grid, 0)
