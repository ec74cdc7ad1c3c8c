"""Read an exported state and report what stops or endangers the next update."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from ops import state_check
from ops.cli import terminal
from ops.cli.options import ROOT, Json
from ops.outcome import Exit
from ops.plan import planning
from ops.plan.stack_file import read
from ops.plan.verdicts import counted

Exported = Annotated[Path, typer.Argument(help="A file of `pulumi stack export`.", metavar="FILE")]


def main(exported: Exported, json: Json = None) -> int:
    """Read an exported state and report secrets in plain text, interrupted operations and unknown resources.

    The exit code is 1 if something is wrong. The values of secrets are never printed.
    """
    state = state_check.read(exported)
    console = terminal.out(quiet=str(json) == "-")
    stack_file = ROOT / f"Pulumi.{state.stack}.yaml"
    planned = frozenset(planning.make(read(stack_file)).plan.urns) if state.stack and stack_file.is_file() else None
    found = list(state_check.faults(state, planned))
    if json is not None:
        data = [{"path": one.path, "problem": one.problem, "fix": one.fix} for one in found]
        terminal.write_json({"stack": state.stack, "resources": len(state.resources), "faults": data}, json)
    for one in found:
        console.print(f"[path]{escape(one.path)}[/]: {escape(one.problem)}", soft_wrap=True)
        console.print(f"  → {escape(one.fix)}", soft_wrap=True)
    if planned is None:
        why = f"there is no {stack_file.name}" if state.stack else "it is empty"
        console.print(f"The resources were not compared with the program: {why}.", soft_wrap=True, markup=False)
    if note := state_check.note(state):
        console.print(note, soft_wrap=True, markup=False)
    numbers = f"{counted(len(state.resources), 'resource')}, {counted(len(found), 'fault')}"
    console.print(f"{state.stack or 'an empty stack'}: {numbers}.", soft_wrap=True, markup=False)
    return Exit.FINDING if found else Exit.GOOD
