"""Preview the program over the state of the previous release, for every committed stack, on fake clouds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from ops.cli import terminal
from ops.cli.options import Json  # noqa: TC001  # Typer reads it
from ops.cli.terminal import progress
from ops.engine import pulumi_cli, upgrade
from ops.outcome import Exit

if TYPE_CHECKING:
    from rich.console import Console

    from ops.engine.upgrade import Replay


def main(json: Json = None) -> int:
    """Preview the program over the state of the previous release, for every committed stack, on fake clouds."""
    console = terminal.out(quiet=str(json) == "-")
    replays: list[Replay] = []
    with progress("Looking for the Pulumi CLI") as line:
        cli = pulumi_cli.required(line.stage)
        for state in upgrade.recorded():
            line.stage(f"Previewing {state.stack_file.name} over its state at {state.release}")
            replays.append(upgrade.replay(cli, state))
    if json is not None:
        terminal.write_json([one.to_data() for one in replays], json)
    for one in replays:
        _show(console, one)
    return Exit.GOOD if all(one.ok for one in replays) else Exit.FINDING


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
