"""Live a stack's whole life on the real engine with stand-in clouds: up, up again, a change, destroy."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape

from ops.cli import terminal
from ops.cli.options import File, Json, Stack, chosen
from ops.cli.outcome import Exit, Stop
from ops.cli.progress import progress
from ops.engine import pulumi_cli, rehearsal
from ops.engine.engine import EngineNotReadyError

Faults = Annotated[
    bool, typer.Option("--faults/--no-faults", help="Also let a create fail half way, and go on from there.")
]


def main(stack: Stack = None, file: File = None, json: Json = None, faults: Faults = True) -> int:
    """Live a stack's whole life on the real engine with stand-in clouds: up, up again, a change, destroy."""
    stack_file = chosen(stack, file)
    with progress("Looking for the Pulumi CLI") as line:
        cli = pulumi_cli.find(line.stage)
        if isinstance(cli, pulumi_cli.NotFound):
            raise Stop(Exit.OUTSIDE, str(cli))
        try:
            lived = rehearsal.rehearse(cli, stack_file, watch=line, faults=faults)
        except EngineNotReadyError as fault:
            raise Stop(Exit.OUTSIDE, str(fault)) from None
    if json is not None:
        terminal.write_json(lived.to_data(), json)
    console = terminal.out(quiet=str(json) == "-")
    for phase in lived.phases:
        style, mark = ("ok", "ok") if phase.ok else ("error", "FAILED")
        told = f"[path]{escape(phase.name)}[/]: {escape(phase.said)} [quiet]({phase.seconds:.1f} s)[/]"
        console.print(f"[{style}]{mark:<6}[/]  {told}", soft_wrap=True)
        for finding in phase.findings:
            console.print(f"        {escape(finding)}", soft_wrap=True)
    verdict = "lives and goes as it should" if lived.ok else "does not live as it should"
    console.print(f"[path]{escape(lived.stack)}[/] {verdict} [quiet]({lived.seconds:.1f} s)[/]")
    return Exit.GOOD if lived.ok else Exit.FINDING
