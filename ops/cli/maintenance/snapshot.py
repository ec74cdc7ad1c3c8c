"""Record the state and the plan of a stack on fake clouds, for a comparison with a later commit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ops.cli import terminal
from ops.cli.options import File, Stack, chosen
from ops.cli.terminal import progress
from ops.engine import pulumi_cli, upgrade
from ops.plan import planning
from ops.report.cost import cost

Out = Annotated[Path, typer.Option("--out", help="The folder to write state.json and plan.json into.")]


def main(stack: Stack = None, file: File = None, out: Out = Path("out")) -> None:
    """Record the state and the plan of a stack on fake clouds, for a comparison with a later commit."""
    stack_file = chosen(stack, file)
    made = planning.make(stack_file)
    with progress("Looking for the Pulumi CLI") as line:
        cli = pulumi_cli.required(line)
        line.stage(f"Updating {stack_file.name} on fake clouds")
        state = upgrade.snapshot(cli, stack_file, "base")
    terminal.write_json({**made.to_data(), "cost": cost(stack_file)}, out / "plan.json")
    terminal.write_json(state.encode(), out / "state.json")
