"""Find the first broken link between a job and its GPU, in the clouds as they are now."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from back_ends.registry import stack_of
from config.identity import PROJECT, Identity
from gpu.nearest import nearest, suggestion
from ops.cli import terminal
from ops.cli.options import File, Json, Stack, Why, chosen
from ops.doctor import live, recording, report
from ops.doctor.checks import CHECKS, Check
from ops.doctor.examination import examine
from ops.doctor.recording import Recorder
from ops.doctor.world import World
from ops.outcome import Exit, Stop
from ops.plan import typed
from ops.plan.stack_file import read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from back_ends.stack import Stack as Checked
    from ops.plan.stack_file import StackFile

Only = Annotated[
    list[str] | None, typer.Option("--only", help="Make only this check and those that it needs. Can be repeated.")
]
Offline = Annotated[
    Path | None, typer.Option("--offline", help="Read the answers from this folder instead of asking the clouds.")
]


def main(
    stack: Stack = None,
    file: File = None,
    json: Json = None,
    why: Why = False,
    only: Only = None,
    offline: Offline = None,
) -> int:
    """Check the clouds, the cluster and GitHub as they are now, in the order in which a job needs them.

    Nothing is changed. The exit code is 1 if a link is broken, and 3 if a system did not answer.
    """
    checks = selected(only or ())
    if offline is None:
        world = _live(chosen(stack, file))
    else:
        world = _recorded(offline, chosen(stack, file) if stack or file else None)
    with terminal.progress("Asking the clouds, the cluster and GitHub") as progress:
        found = examine(world, checks, step=progress.step)
    if json is not None:
        terminal.write_json(found.data(), json)
    report.show(terminal.out(quiet=str(json) == "-"), found, why=why)
    return found.exit


def selected(names: Sequence[str]) -> tuple[Check, ...]:
    """Return the named checks and all that they need, in the order of the chain; without names, all checks."""
    known = {one.CHECK: one for one in CHECKS}
    wanted: set[str] = set()
    left = list(names or known)
    while left:
        name = left.pop()
        if name not in known:
            raise Stop(Exit.WRONG, f"--only: no check {name}; {suggestion(nearest(name, known), known)}")
        if name not in wanted:
            wanted.add(name)
            left += known[name].NEEDS
    return tuple(one for one in CHECKS if one.CHECK in wanted)


def _live(stack_file: StackFile) -> World:
    stack = _stack(stack_file)
    return World(
        stack=stack, now=datetime.now(UTC), **{name: Recorder(source) for name, source in live.systems(stack).items()}
    )


def _recorded(folder: Path, stack_file: StackFile | None) -> World:
    found = recording.read(folder)
    stack_file = stack_file or read(folder / found.stack_file)
    return World(stack=_stack(stack_file), now=found.now, **found.sources())


def _stack(stack_file: StackFile) -> Checked:
    settings = typed.settings(stack_file)
    return stack_of(settings, Identity(project=PROJECT, stack=stack_file.name, extra=settings.stack.tags))
