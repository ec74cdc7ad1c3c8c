"""An examination on a terminal: a line for each link, and below it the faults with their meaning and fix."""

from __future__ import annotations

from collections import Counter
from typing import Final

from rich.console import Console
from rich.markup import escape

from gpu_ci.knowledge.verdict import Level
from ops.doctor.examination import Examination, Link, State
from ops.doctor.finding import Finding

_STYLES: Final = {
    State.WORKS: "ok",
    State.BROKEN: "error",
    State.UNANSWERED: "warning",
    State.NOT_CHECKED: "quiet",
}
_WIDTH: Final = len(State.NOT_CHECKED)
_INDENT: Final = " " * (_WIDTH + 2)


def show(console: Console, found: Examination, *, why: bool = False) -> None:
    """Print every link in the order of the chain, and a summary. With `why`, also print what passed."""
    for link in found.links:
        if link.state is not State.NOT_CHECKED:
            _link(console, link, why=why)
    waiting = Counter(link.because for link in found.of(State.NOT_CHECKED))
    for cause in waiting:
        names = ", ".join(link.check for link in found.of(State.NOT_CHECKED) if link.because == cause)
        _head(console, State.NOT_CHECKED, "quiet", f"{names}, because {cause} failed")
    console.print(_summary(found), soft_wrap=True, markup=False)


def _link(console: Console, link: Link, *, why: bool) -> None:
    shown = [one for one in link.findings if why or one.level is not Level.OK]
    passed = [one for one in link.findings if one.level is Level.OK]
    brief = passed[0].seen if len(passed) == 1 and not shown else f"{len(passed)} passed" if passed else ""
    warned = link.state is State.WORKS and any(one.level is Level.WARNING for one in link.findings)
    label, style = ("warning", "warning") if warned else (str(link.state), _STYLES[link.state])
    _head(console, label, style, f"{link.check}{f'  {brief}' if brief else ''}")
    for one in shown:
        _finding(console, one)
    if link.state is State.UNANSWERED or (link.state is State.BROKEN and link.because):
        _paragraph(console, f"could not ask, because {link.because}")
        if link.fix:
            _paragraph(console, f"→ {link.fix}")
    if link.state in {State.BROKEN, State.UNANSWERED} or warned:
        _paragraph(console, link.page, style="quiet")


def _finding(console: Console, one: Finding) -> None:
    console.print(f"{_INDENT}[{one.level}]{escape(one.subject)}[/]: {escape(one.seen)}", soft_wrap=True)
    if one.means:
        _paragraph(console, f"  {one.means}")
    if one.fix:
        _paragraph(console, f"  → {one.fix}")


def _head(console: Console, label: str, style: str, text: str) -> None:
    console.print(f"[{style}]{label:<{_WIDTH}}[/]  {escape(text)}", soft_wrap=True)


def _paragraph(console: Console, text: str, *, style: str = "") -> None:
    console.print(f"{_INDENT}{escape(text)}", soft_wrap=True, style=style)


def _summary(found: Examination) -> str:
    """Return the numbers of links by state, after the first broken one."""
    counts = {state: len(found.of(state)) for state in State}
    broken = found.of(State.BROKEN)
    lead = f"The first broken link is {broken[0].check}. " if broken else ""
    text = f"{lead}{counts[State.WORKS]} of {len(found.links)} links work, {counts[State.BROKEN]} are broken"
    if counts[State.UNANSWERED]:
        text += f", {counts[State.UNANSWERED]} could not be asked"
    if counts[State.NOT_CHECKED]:
        text += f", {counts[State.NOT_CHECKED]} were not checked"
    return f"{text}."
