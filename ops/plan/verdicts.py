"""Verdicts on a terminal: the worst first, each with its subject, its reason and the fix."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Final

from rich.markup import escape

from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

_LABEL: Final = len("warning")
_INDENT: Final = _LABEL + 2
_NARROWEST: Final = 30
_TOLD_ALWAYS: Final = frozenset({"money"})
"""Checks whose figures a reader wants even where all is well."""


def show(console: Console, verdicts: Sequence[Verdict], *, why: bool = False) -> None:
    """Print what must change, then what may surprise, then what it costs; what else holds is counted.

    An error is followed by the steps that led to it; with `why` every verdict is, and what holds is printed as well. A
    step or a chapter that explains several stands once, under the first of them.
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
        if why or verdict.check in _TOLD_ALWAYS:
            _one(console, verdict, steps if why else None)
    held = Counter(verdict.check for verdict in good)
    if held and not why:
        _head(console, "ok", f"{held.total()} hold")
        _paragraph(console, ", ".join(f"{check} {count}" for check, count in sorted(held.items())))


def entry(console: Console, level: str, subject: str, check: str, reason: str, fix: str = "") -> None:
    """Print one judgement, wrapped so that its parts stay under each other."""
    _head(console, level, f"[path]{escape(subject)}[/]  [quiet]{escape(check)}[/]")
    _paragraph(console, reason)
    if fix:
        _paragraph(console, fix, "→ ")


def counts(verdicts: Sequence[Verdict]) -> str:
    """How many errors and warnings there are, in words."""
    by_level = Counter(verdict.level for verdict in verdicts)
    return f"{counted(by_level[Level.ERROR], 'error')}, {counted(by_level[Level.WARNING], 'warning')}"


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 error`, `no errors`."""
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _one(console: Console, verdict: Verdict, told: set[str] | None) -> None:
    """Print one verdict, with those of its steps that were not `told` before; with none of them where that is None."""
    entry(console, str(verdict.level), verdict.subject, verdict.check, verdict.reason, verdict.fix)
    if told is not None:
        for step in verdict.chain:
            if step not in told:
                _paragraph(console, step, "· ", style="quiet")
        told.update(verdict.chain)


def _head(console: Console, level: str, text: str) -> None:
    console.print(f"[{level}]{level:<{_LABEL}}[/]  {text}", soft_wrap=True)


def _paragraph(console: Console, text: str, lead: str = "", style: str = "") -> None:
    """Print `text` clear of the labels. Paths and commands are not broken: they are copied."""
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
