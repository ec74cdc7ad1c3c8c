"""Rehearse the life of a stack on the real engine with fake clouds: up, preview, a change, destroy."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape

from ops.cli import terminal
from ops.cli.options import File, Json, Stack, chosen
from ops.cli.terminal import progress
from ops.engine import pulumi_cli, rehearsal
from ops.outcome import Exit

Faults = Annotated[
    bool, typer.Option("--faults/--no-faults", help="Also let a create fail half way, and continue from there.")
]


def main(stack: Stack = None, file: File = None, json: Json = None, faults: Faults = True) -> int:
    """Rehearse the life of a stack on the real engine with fake clouds: up, preview, a change, destroy."""
    stack_file = chosen(stack, file)
    with progress("Looking for the Pulumi CLI") as line:
        cli = pulumi_cli.required(line)
        result = rehearsal.rehearse(cli, stack_file, progress=line, faults=faults)
    if json is not None:
        terminal.write_json(result.to_data(), json)
    console = terminal.out(quiet=str(json) == "-")
    for phase in result.phases:
        style, mark = ("ok", "ok") if phase.ok else ("error", "FAILED")
        text = f"[path]{escape(phase.name)}[/]: {escape(phase.summary)} [quiet]({phase.seconds:.1f} s)[/]"
        console.print(f"[{style}]{mark:<6}[/]  {text}", soft_wrap=True)
        for finding in phase.findings:
            console.print(f"        {escape(finding)}", soft_wrap=True)
    result_text = "passes the rehearsal" if result.ok else "fails the rehearsal"
    console.print(f"[path]{escape(result.stack)}[/] {result_text} [quiet]({result.seconds:.1f} s)[/]")
    return Exit.GOOD if result.ok else Exit.FINDING
