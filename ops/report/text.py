"""A comparison as lines for a terminal."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.console import Console
from rich.markup import escape

from ops.plan.verdicts import counted
from ops.report.changes import ORDER, Change, Effect, Property
from ops.report.comparison import Comparison

MARKS: Final = {Effect.CREATE: "+", Effect.UPDATE: "~", Effect.REPLACE: "±", Effect.DELETE: "-", Effect.MOVE: ">"}
_STYLES: Final = {
    Effect.CREATE: "ok",
    Effect.UPDATE: "warning",
    Effect.REPLACE: "error",
    Effect.DELETE: "error",
    Effect.MOVE: "quiet",
}
_LONGEST: Final = 1000
"""Letters of a line."""
_ALIKE: Final = 3
"""The largest number of alike changes that are shown one by one."""
_FILES: Final = 10
"""Uncommitted files in the list."""
_LINES: Final = 60
"""Lines of the difference of one input."""


def show(console: Console, found: Comparison) -> None:
    """Print every change, its consequence, and the numbers."""
    base = found.base
    console.print(f"[path]{escape(found.stack)}[/], compared with {escape(base.name)} ({base.commit})", soft_wrap=True)
    for note in base.notes:
        console.print(escape(note), soft_wrap=True)
    if base.uncommitted:
        console.print("Uncommitted changes of this folder are included:")
        for line in cut(base.uncommitted, _FILES):
            console.print(f"  {escape(line)}", soft_wrap=True)
    if base.new:
        console.print("The stack does not exist there, so everything is created.")
    if base.faults:
        console.print(f"[warning]The stack cannot be compared[/]: at {escape(base.name)} it does not run:")
        for line in base.faults:
            console.print(f"  {escape(line)}", soft_wrap=True)
        return
    _show_problems(console, found)
    console.print()
    for members in grouped(found.changes):
        effect = members[0].effect
        for line in lines_of(members):
            style = _STYLES[effect] if line.startswith(MARKS[effect]) else ""
            console.print(escape(line), style="error" if line.lstrip().startswith("!") else style, soft_wrap=True)
    console.print(summary(found), soft_wrap=True)


def _show_problems(console: Console, found: Comparison) -> None:
    """Print why the update cannot happen."""
    if found.refusal:
        console.print()
        for number, line in enumerate(found.refusal.lines):
            lead = "[error]Refused[/]: " if number == 0 else "  "
            console.print(f"{lead}{escape(line)}", soft_wrap=True)
    for line in found.refusals:
        console.print(f"[error]The update is refused[/]: {escape(line)}", soft_wrap=True)
    if found.fault:
        console.print(f"[error]The engine reports an error[/]: {escape(found.fault)}", soft_wrap=True)
        if found.changes:
            console.print("It found these changes before the error:")


def grouped(changes: Iterable[Change]) -> list[tuple[Change, ...]]:
    """Return the changes to show; many alike that have nothing more to say are together in one tuple."""
    found: dict[object, list[Change]] = {}
    for change in changes:
        if not change.component:
            alike = change.follows or (not change.shown and change.meaning is None)
            types = change.urn.rpartition("::")[0]
            found.setdefault((change.effect, change.follows, types) if alike else change.urn, []).append(change)
    return [part for members in found.values() for part in _parts(members)]


def _parts(members: list[Change]) -> list[tuple[Change, ...]]:
    return [tuple(members)] if len(members) > _ALIKE else [(one,) for one in members]


def group_line(members: Sequence[Change]) -> str:
    """Return one line for several changes that are alike."""
    first = members[0]
    was = f", was {_start(one.was.rpartition('::')[2] for one in members)}" if first.was else ""
    name = _start(one.name for one in members)
    return f"{MARKS[first.effect]} {first.effect:<8} {len(members)} {first.kind} {name}{was}{_because(first)}"


def _start(names: Iterable[str]) -> str:
    """Return the letters with which all names begin."""
    return f"{os.path.commonprefix(list(names))}…"  # noqa: RUF071  # the letters that names share


def _because(change: Change) -> str:
    return " (because of another replacement)" if change.follows else ""


def title(change: Change) -> str:
    """Return the effect, the type and the name."""
    return f"{MARKS[change.effect]} {change.effect:<8} {change.kind} {change.name}{_because(change)}"


def lines_of(members: Sequence[Change]) -> Iterator[str]:
    """Yield the lines of one change, or one line for several that are alike."""
    if len(members) == 1:
        yield from lines(members[0])
    else:
        yield group_line(members)


def lines(change: Change) -> Iterator[str]:
    """Yield the lines of one change."""
    yield title(change)
    if change.was:
        yield f"    was {change.was.rpartition('::')[2]}"
    if not change.follows:
        for head, found in blocks(change, change.shown):
            yield f"    {head}"
            yield from (f"      {_shortened(line)}" for line in cut(found, _LINES))
    if change.meaning is not None:
        yield f"    ! {change.meaning.loses}"
        yield f"      Safer: {change.meaning.safer}"


def blocks(change: Change, properties: Iterable[Property]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield each input as a line, and the lines of its difference if it needs more than one."""
    for one in properties:
        forces = "  (forces the replacement)" if one.forces else ""
        if change.effect in (Effect.CREATE, Effect.DELETE):
            value = one.new if one.old is None else one.old
            yield (f"{one.path}:", [line[1:] for line in one.lines]) if one.lines else (f"{one.path}: {value}", ())
        elif one.lines:
            yield f"{one.path}:{forces}", one.lines
        else:
            old = "(none)" if one.old is None else one.old
            new = "(none)" if one.new is None else one.new
            yield f"{one.path}: {old} -> {new}{forces}", ()


def _shortened(line: str) -> str:
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def cut(found: Sequence[str], most: int) -> list[str]:
    """Return the first lines, and the number of the omitted ones."""
    more = len(found) - most
    return [*found[:most], f"… {counted(more, 'more line')}"] if more > 0 else list(found)


def cut_text(text: str, limit: int, rest: str) -> str:
    """Return the first lines of a text, of about `limit` letters, and the number of the others, which are in `rest`."""
    if len(text) <= limit:
        return text
    kept = text[:limit].rpartition("\n")[0]
    return f"{kept}\n… {text.count(chr(10)) - kept.count(chr(10))} more lines: see {rest}"


def summary(found: Comparison) -> str:
    """Return the numbers of changes in one or two sentences."""
    custom = [one for one in found.changes if not one.component]
    following = [one for one in custom if one.follows]
    numbers = Counter(one.effect for one in custom if not one.follows)
    parts = [f"{numbers[effect]} to {effect}" for effect in ORDER if numbers[effect]]
    if following:
        parts.append(f"{len(following)} replaced because of another replacement")
    text = f"{', '.join(parts) or 'Nothing changes'}; {found.unchanged} unchanged."
    if found.access:
        text += f" {counted(len(found.access), 'change')} of access."
    return f"{text} Jobs end or data is lost by {counted(len(found.loud), 'change')}." if found.loud else text
