"""Print the plan, preview the same stack with the real engine on fake clouds, and compare the two."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from ops.cli import terminal
from ops.cli.options import File, Json, Stack, Why, chosen
from ops.cli.since import since
from ops.cli.terminal import progress
from ops.engine import plan_differences, pulumi_cli
from ops.engine.engine import Engine
from ops.engine.events import Outcome
from ops.outcome import Exit
from ops.plan import planning
from ops.plan.recorder import record
from ops.plan.stack_file import StackFile
from ops.report import text

if TYPE_CHECKING:
    from rich.console import Console

    from ops.engine.plan_differences import Difference
    from ops.progress import Progress


Base = Annotated[
    str | None, typer.Option("--base", help="A commit, for example origin/main: show what changes since it.")
]


def main(stack: Stack = None, file: File = None, json: Json = None, why: Why = False, base: Base = None) -> int:
    """Print the plan, preview the same stack with the real engine on fake clouds, and compare the two."""
    stack_file = chosen(stack, file)
    console = terminal.out(quiet=str(json) == "-")
    if base is not None:
        return _compare(base, stack_file, console, json)
    made = planning.make(stack_file)
    planning.show(console, made, why=why)
    with progress("Looking for the Pulumi CLI") as line:
        cli = pulumi_cli.find(line)
        outcome, differences = _engine(cli, stack_file, line) if isinstance(cli, pulumi_cli.Found) else (None, ())
    if json is not None:
        terminal.write_json({**made.to_data(), "engine": _data(cli, outcome, differences)}, json)
    if isinstance(cli, pulumi_cli.NotFound):
        console.print(f"\n[warning]The preview by the engine is skipped[/]: {escape(str(cli))}", soft_wrap=True)
        # In CI, a skipped preview would look like one that passed.
        return max(made.exit, Exit.OUTSIDE if os.environ.get("CI") else Exit.GOOD)
    return max(made.exit, _show(console, outcome, differences))


def _compare(base: str, stack_file: StackFile, console: Console, json: Path | None) -> int:
    """Print the findings, and what an update of the stack at another commit would do."""
    made, found = since(base, stack_file)
    planning.show_found(console, made.verdicts, made.findings, made.exceptions)
    text.show(console, found)
    if json is not None:
        data = made.to_data() if isinstance(made, planning.Planning) else None
        terminal.write_json({**found.to_data(), "plan": data}, json)
    return Exit.FINDING if made.findings or found.fault or found.refusal or found.refusals else Exit.GOOD


def _engine(
    cli: pulumi_cli.Found, stack_file: StackFile, line: Progress
) -> tuple[Outcome | None, tuple[Difference, ...]]:
    """Preview with the engine; return its outcome and its differences from the plan."""
    line.stage(f"The engine (Pulumi {cli.version}) previews {stack_file.name} on fake clouds")
    plan = record(stack_file, preview=True)
    seen: list[str] = []

    def on_step(step: object) -> None:
        seen.append("step")
        line.step(f"The engine previews {len(seen)} of {len(plan)}: {step}")

    with Engine(cli, stack_file, on_step=on_step) as engine:
        outcome = engine.preview(goals=True)
    return outcome, plan_differences.from_preview(plan, outcome.goals) if outcome.ok else ()


def _show(console: Console, outcome: Outcome | None, differences: tuple[Difference, ...]) -> Exit:
    """Print whether the engine agrees."""
    console.print()
    if outcome is None:
        return Exit.GOOD
    if not outcome.ok:
        console.print(f"[error]The engine reports an error[/]: {escape(outcome.fault)}", soft_wrap=True)
        return Exit.FINDING
    for difference in differences:
        console.print(escape(str(difference)), soft_wrap=True)
    if differences:
        console.print(f"[error]The engine disagrees[/] in {len(differences)} places.")
        return Exit.FINDING
    console.print(
        f"[ok]The engine agrees[/]: {outcome.counts.get('create', 0)} to create, as planned ({outcome.seconds:.1f} s)."
    )
    return Exit.GOOD


def _data(
    cli: pulumi_cli.Found | pulumi_cli.NotFound, outcome: Outcome | None, differences: tuple[Difference, ...]
) -> dict[str, Any]:
    """Return the engine's result as plain data."""
    if isinstance(cli, pulumi_cli.NotFound):
        return {"asked": False, "why": {str(failure.origin): failure.reason for failure in cli.failures}}
    return {
        "asked": True,
        "version": cli.version,
        "ok": outcome is not None and outcome.ok,
        "fault": outcome.fault if outcome else "",
        "counts": dict(outcome.counts) if outcome else {},
        "differences": [str(difference) for difference in differences],
    }
