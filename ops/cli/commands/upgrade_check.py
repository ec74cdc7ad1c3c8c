"""Say what an edit of versions does to a stack, or preview the program over the states of the previous release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from ops.cli import terminal
from ops.cli.options import ROOT, File, Json, Stack, chosen
from ops.cli.since import since
from ops.cli.terminal import progress
from ops.engine import pulumi_cli, upgrade
from ops.outcome import Exit, Stop
from ops.upgrades import text
from ops.upgrades.check import check

if TYPE_CHECKING:
    from rich.console import Console

    from ops.engine.upgrade import Replay

Base = Annotated[
    str | None, typer.Option("--base", help="A commit, for example origin/main: the versions that change since it.")
]


def main(stack: Stack = None, file: File = None, base: Base = None, json: Json = None) -> int:
    """Say what an edit of versions does to a stack, or preview the program over the states of the previous release.

    With --base, the versions of one stack are compared with those of another commit, and the updates that apply them
    are listed in order. Without it, every committed stack is previewed over the state of the previous release.
    """
    if base is not None:
        return _since(base, stack, file, json)
    if stack is not None or file is not None:
        raise Stop(Exit.WRONG, "--stack and --file need --base; without it, every committed stack is checked")
    console = terminal.out(quiet=str(json) == "-")
    replays: list[Replay] = []
    with progress("Looking for the Pulumi CLI") as line:
        cli = pulumi_cli.required(line)
        for state in upgrade.recorded():
            line.stage(f"Previewing {state.stack_file.name} over its state at {state.release}")
            replays.append(upgrade.replay(cli, state))
    if json is not None:
        terminal.write_json([one.to_data() for one in replays], json)
    for one in replays:
        _show(console, one)
    return Exit.GOOD if all(one.ok for one in replays) else Exit.FINDING


def _since(base: str, stack: str | None, file: Path | None, json: Path | None) -> int:
    """Compare the versions of one stack with those of another commit."""
    stack_file = chosen(stack, file)
    console = terminal.out(quiet=str(json) == "-")
    found = check(*since(base, stack_file), stack_file, ROOT)
    text.show(console, found)
    if json is not None:
        terminal.write_json(found.to_data(), json)
    return Exit.GOOD if found.ok else Exit.FINDING


def _show(console: Console, replay: Replay) -> None:
    """Print what the upgrade does to one stack."""
    style, mark = ("ok", "ok") if replay.ok else ("error", "FAILED")
    counts = ", ".join(
        f"{len(steps)} {word}"
        for word, steps in (
            ("unchanged", replay.steps("same")),
            ("created", replay.created),
            ("updated", replay.updated),
            ("replaced", replay.replaced),
            ("deleted", replay.deleted),
        )
        if steps
    )
    name, release = replay.recorded.stack_file.name, replay.recorded.release
    console.print(f"[{style}]{mark:<6}[/]  [path]{escape(name)}[/] since {escape(release)}: {counts}", soft_wrap=True)
    if not replay.outcome.ok:
        console.print(f"        {escape(replay.outcome.fault)}", soft_wrap=True)
    for word in ("created", "updated", "replaced", "deleted"):
        for step in getattr(replay, word):
            paths = f": {', '.join(sorted(step.changed))}" if step.changed else ""
            console.print(f"        {word} {escape(step.type)} {escape(step.name)}{escape(paths)}", soft_wrap=True)
