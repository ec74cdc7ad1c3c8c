"""Verdicts on a terminal: errors first, each with its subject, reason and fix."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rich.markup import escape

from gpu_ci.knowledge.verdict import Level, Verdict

if TYPE_CHECKING:
    from rich.console import Console

_LABEL: Final = len("warning")
_INDENT: Final = _LABEL + 2
_NARROWEST: Final = 30
_ALWAYS_SHOWN: Final = frozenset({"money"})
"""Checks that are shown even if they passed: their figures are of interest."""


def show(console: Console, verdicts: Sequence[Verdict], *, why: bool = False) -> None:
    """Print errors, then warnings, then the cost, and count the other checks that passed.

    The steps that led to an error follow it. With `why`, passed checks are printed as well, and every verdict has its
    steps. A step or a page that explains several verdicts is printed once, under the first of them.
    """
    explained: set[str] = set()
    steps: set[str] = set()
    for level in (Level.ERROR, Level.WARNING):
        for verdict in verdicts:
            if verdict.level is level:
                _one(console, verdict, steps if why or level is Level.ERROR else None)
                if verdict.check not in explained:
                    explained.add(verdict.check)
                    console.print(f"{' ' * _INDENT}[quiet]why: docs/{verdict.chapter}[/]", soft_wrap=True)
    good = [verdict for verdict in verdicts if verdict.level is Level.OK]
    for verdict in good:
        if why or verdict.check in _ALWAYS_SHOWN:
            _one(console, verdict, steps if why else None)
    passed = Counter(verdict.check for verdict in good)
    if passed and not why:
        _head(console, "ok", f"{passed.total()} passed")
        paragraph(console, ", ".join(f"{check} {count}" for check, count in sorted(passed.items())))


def entry(console: Console, level: str, subject: str, check: str, reason: str, fix: str = "") -> None:
    """Print one verdict or finding, indented and wrapped."""
    _head(console, level, f"[path]{escape(subject)}[/]  [quiet]{escape(check)}[/]")
    paragraph(console, reason)
    if fix:
        paragraph(console, fix, "→ ")


def line(console: Console, verdict: Verdict) -> None:
    """Print one verdict on one line."""
    text = f"{escape(verdict.subject)}: {escape(verdict.reason)}; {escape(verdict.fix)}"
    console.print(f"[{verdict.level}]{verdict.level}[/] {text}", soft_wrap=True)


def counts(verdicts: Sequence[Verdict]) -> str:
    """Return the numbers of errors and warnings in words."""
    by_level = Counter(verdict.level for verdict in verdicts)
    return f"{counted(by_level[Level.ERROR], 'error')}, {counted(by_level[Level.WARNING], 'warning')}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 error`, `no errors`."""
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _one(console: Console, verdict: Verdict, printed: set[str] | None) -> None:
    """Print one verdict with its steps that are not in `printed`; without steps if `printed` is None."""
    entry(console, str(verdict.level), verdict.subject, verdict.check, verdict.reason, verdict.fix)
    if printed is not None:
        for step in verdict.chain:
            if step not in printed:
                paragraph(console, step, "· ", style="quiet")
        printed.update(verdict.chain)


def _head(console: Console, level: str, text: str) -> None:
    console.print(f"[{level}]{level:<{_LABEL}}[/]  {text}", soft_wrap=True)


def paragraph(console: Console, text: str, lead: str = "", style: str = "") -> None:
    """Print `text` indented below the label. Paths and commands are not broken, so that they can be copied."""
    lines = textwrap.wrap(
        text,
        width=max(console.width, _NARROWEST + _INDENT),
        initial_indent=" " * _INDENT + lead,
        subsequent_indent=" " * (_INDENT + len(lead)),
        break_long_words=False,
        break_on_hyphens=False,
    )
    for line in lines:
        console.print(escape(line), soft_wrap=True, style=style)
