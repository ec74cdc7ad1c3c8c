"""A comparison as lines for a terminal."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from typing import TYPE_CHECKING, Final

from rich.markup import escape

from ops.plan.verdicts import counted
from ops.report.changes import ORDER, Effect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from ops.report.changes import Change, Property
    from ops.report.comparison import Comparison

MARKS: Final = {Effect.CREATE: "+", Effect.UPDATE: "~", Effect.REPLACE: "±", Effect.DELETE: "-", Effect.MOVE: ">"}
_STYLES: Final = {
    Effect.CREATE: "ok",
    Effect.UPDATE: "warning",
    Effect.REPLACE: "error",
    Effect.DELETE: "error",
    Effect.MOVE: "quiet",
}
_LONGEST: Final = 160
"""Letters of a value in one line."""
_ALIKE: Final = 3
"""The largest number of alike changes that are shown one by one."""
_LINES: Final = 30
"""Changed lines of one text."""


def show(console: Console, found: Comparison) -> None:
    """Print every change, its consequence, and the numbers."""
    base = found.base
    console.print(f"[path]{escape(found.stack)}[/], compared with {escape(base.name)} ({base.commit})", soft_wrap=True)
    if base.new:
        console.print("The stack does not exist there, so everything is created.")
    if base.faults:
        console.print(f"[warning]The stack cannot be compared[/]: at {escape(base.name)} it does not run:")
        for line in base.faults:
            console.print(f"  {escape(line)}", soft_wrap=True)
        return
    if found.fault:
        console.print(f"[error]The engine reports an error[/]: {escape(found.fault)}", soft_wrap=True)
        return
    console.print()
    for members in grouped(found.changes):
        effect = members[0].effect
        for line in lines(members[0]) if len(members) == 1 else [group_line(members)]:
            style = _STYLES[effect] if line.startswith(MARKS[effect]) else ""
            console.print(escape(line), style="error" if line.lstrip().startswith("!") else style, soft_wrap=True)
    console.print(summary(found), soft_wrap=True)


def grouped(changes: Iterable[Change]) -> list[tuple[Change, ...]]:
    """Return the changes to show; many alike that have nothing more to say are together in one tuple."""
    found: dict[object, list[Change]] = {}
    for change in changes:
        if not change.component and not change.follows:
            alike = not change.properties and change.meaning is None and not change.was
            types = change.urn.rpartition("::")[0]
            found.setdefault((change.effect, types) if alike else change.urn, []).append(change)
    return [part for members in found.values() for part in _parts(members)]


def _parts(members: list[Change]) -> list[tuple[Change, ...]]:
    return [tuple(members)] if len(members) > _ALIKE else [(one,) for one in members]


def group_line(members: Sequence[Change]) -> str:
    """Return one line for several changes that are alike."""
    first = members[0]
    start = os.path.commonprefix([one.name for one in members])  # noqa: RUF071  # the letters that names share
    return f"{MARKS[first.effect]} {first.effect:<8} {len(members)} {first.kind} {start}…"


def lines(change: Change) -> Iterator[str]:
    """Yield the lines of one change."""
    yield f"{MARKS[change.effect]} {change.effect:<8} {change.kind} {change.name}"
    if change.was:
        yield f"    was {change.was.rpartition('::')[2]}"
    for line in property_lines(change):
        yield f"    {line}"
    if change.meaning is not None:
        yield f"    ! {change.meaning.loses}"
        yield f"      Safer: {change.meaning.safer}"


def property_lines(change: Change) -> Iterator[str]:
    """Yield the lines of the inputs of a change."""
    for one in change.properties:
        if change.effect in (Effect.CREATE, Effect.DELETE):
            yield _shortened(f"{one.path}: {one.new if one.old is None else one.old}")
        else:
            yield from _difference(one)


def _shortened(line: str) -> str:
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def _difference(one: Property) -> Iterator[str]:
    """Yield the lines of one changed input; of long texts, only the lines that differ."""
    forces = "  (forces the replacement)" if one.forces else ""
    if max(len(one.old or ""), len(one.new or "")) <= _LONGEST and "\n" not in (one.old or "") + (one.new or ""):
        old = "(none)" if one.old is None else one.old
        new = "(none)" if one.new is None else one.new
        yield f"{one.path}: {old} -> {new}{forces}"
        return
    yield f"{one.path}:{forces}"
    yield from (f"  {line}" for line in text_difference(one.old or "", one.new or ""))


def text_difference(old: str, new: str, most: int = _LINES) -> list[str]:
    """Return the changed lines of a text, and the number of the omitted ones."""
    found = [
        _shortened(line)
        for line in difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0)
        if not line.startswith(("---", "+++", "@@"))
    ]
    more = len(found) - most
    return [*found[:most], f"… {counted(more, 'more line')}"] if more > 0 else found


def summary(found: Comparison) -> str:
    """Return the numbers of changes in one or two sentences."""
    custom = [one for one in found.changes if not one.component]
    following = [one for one in custom if one.follows]
    numbers = Counter(one.effect for one in custom if not one.follows)
    parts = [f"{numbers[effect]} to {effect}" for effect in ORDER if numbers[effect]]
    if following:
        parts.append(f"{len(following)} replaced because of another replacement")
    text = f"{', '.join(parts) or 'Nothing changes'}; {found.unchanged} unchanged."
    loud = len(found.loud)
    return f"{text} Jobs end or data is lost by {counted(loud, 'change')}." if loud else text
