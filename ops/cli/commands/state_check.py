"""Read an exported state and report what stops or endangers the next update."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from ops.cli import terminal
from ops.cli.options import ROOT, Json
from ops.outcome import Exit, Stop
from ops.plan import planning
from ops.plan.stack_file import read
from ops.plan.verdicts import counted
from ops.state import state_check
from ops.state.state_repair import repaired

Exists = Annotated[
    list[str] | None,
    typer.Option("--exists", metavar="URN=ID", help="An interrupted creation that the cloud carried out, and its ID."),
]
Absent = Annotated[
    list[str] | None, typer.Option("--absent", metavar="URN", help="An interrupted creation that left nothing.")
]
Repair = Annotated[
    Path | None, typer.Option("--repair", metavar="FILE", help="Write the state with these decisions to this file.")
]
Exported = Annotated[Path, typer.Argument(help="A file of `pulumi stack export`.", metavar="FILE")]


def main(
    exported: Exported,
    json: Json = None,
    exists: Exists = None,
    absent: Absent = None,
    repair: Repair = None,
) -> int:
    """Read an exported state and report secrets in plain text, interrupted operations and unknown resources.

    The exit code is 1 if something is wrong. The values of secrets are never printed. With --repair, the command
    writes a state in which every interrupted creation is decided with --exists or --absent.
    """
    state = state_check.read(exported)
    console = terminal.out(quiet=str(json) == "-")
    if repair is not None:
        after = repaired(state.document, dict(_pair(one) for one in exists or ()), frozenset(absent or ()))
        terminal.write_json(after, repair)
        console.print(f"Wrote {repair}. Run these commands next:", soft_wrap=True, markup=False)
        for command in (f"pulumi stack import --file {repair}", "pulumi up"):
            console.print(f"  {command}", soft_wrap=True, markup=False)
        return Exit.GOOD
    if exists or absent:
        raise Stop(Exit.WRONG, "--exists and --absent need --repair FILE")
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


def _pair(text: str) -> tuple[str, str]:
    """Return the URN and the ID. A URN contains no `=`; an ID can."""
    urn, _, id_ = text.partition("=")
    if not id_:
        raise Stop(Exit.WRONG, f"--exists {text}: state URN=ID")
    return urn, id_
