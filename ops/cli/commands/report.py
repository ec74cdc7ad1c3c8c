"""Report what a change does to a stack: its effect on a running stack, its cost and the rules it breaks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ops.cli import terminal
from ops.cli.options import File, Json, Stack, chosen
from ops.cli.since import since
from ops.outcome import Exit
from ops.report import text
from ops.report.cost import cost
from ops.report.html import html
from ops.report.markdown import markdown
from ops.report.report import Risk
from ops.report.report import report as made_report

Base = Annotated[str, typer.Option("--base", help="The commit to compare with.")]
Out = Annotated[Path, typer.Option("--out", help="The folder to write report.md and report.html into.")]


def main(
    base: Base = "origin/main", stack: Stack = None, file: File = None, out: Out = Path("out"), json: Json = None
) -> int:
    """Report what a change does to a stack: its effect on a running stack, its cost and the rules it breaks."""
    stack_file = chosen(stack, file)
    console = terminal.out(quiet=str(json) == "-")
    made, found = since(base, stack_file)
    report = made_report(found, made.verdicts, made.findings, cost(stack_file), made.exceptions)
    terminal.write_json(markdown(report).encode(), out / "report.md")
    terminal.write_json(html(report).encode(), out / "report.html")
    if json is not None:
        terminal.write_json(report.to_data(), json)
    text.show(console, found)
    console.print(f"Risk: {report.risk}: {report.risk_reason}.", soft_wrap=True, markup=False)
    console.print(f"Wrote {out / 'report.md'} and {out / 'report.html'}.", soft_wrap=True, markup=False)
    return Exit.FINDING if report.risk is Risk.BLOCKED else Exit.GOOD
