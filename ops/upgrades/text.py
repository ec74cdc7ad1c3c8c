"""The check of an edit of versions as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.markup import escape

from ops.plan.verdicts import counted
from ops.report.text import summary
from ops.upgrades.check import Check
from ops.upgrades.effects import effect, notes
from ops.upgrades.order import Update


def show(console: Console, found: Check) -> None:
    """Print what is refused, and the updates in order."""
    base = found.comparison.base
    stack = escape(found.comparison.stack)
    console.print(f"[path]{stack}[/], versions compared with {escape(base.name)} ({base.commit})", soft_wrap=True)
    if base.new:
        console.print("The stack does not exist there, so it gets no other version of anything.")
    if base.faults:
        console.print(f"[warning]Only the packages are compared[/]: at {escape(base.name)} the stack does not run:")
        for line in base.faults:
            console.print(f"  {escape(line)}", soft_wrap=True)
    for fault in found.refused:
        console.print(f"[error]refused[/]  {escape(fault.path)}: {escape(fault.problem)}", soft_wrap=True)
        console.print(f"         → {escape(fault.fix)}", soft_wrap=True)
    for line in found.warnings:
        console.print(f"[warning]warning[/]  {escape(line)}", soft_wrap=True)
    if not found.moves:
        console.print("No version changes.", soft_wrap=True)
        return
    for number, update in enumerate(found.updates, 1):
        console.print()
        console.print(f"[path]Update {number} of {len(found.updates)}: {escape(update.title)}[/]", soft_wrap=True)
        for text in lines(update, found):
            console.print(escape(text), soft_wrap=True)
    console.print()
    console.print(f"{counted(len(found.moves), 'version')} changed. This edit as one update: ", end="")
    console.print(escape(found.comparison.fault or summary(found.comparison)), soft_wrap=True)


def lines(update: Update, found: Check) -> Iterator[str]:
    """Yield the lines of one update."""
    for text in update.before:
        yield f"  before: {text}"
    for number, stage in enumerate(update.stages, 1):
        yield f"  {number}. {stage.kind.value}"
        for move in stage.moves:
            yield f"       {move}"
        yield f"     {effect(stage)}"
        for text in notes(stage, found.config):
            yield f"     {text}"
    if update.page:
        yield f"  See {update.page}"
