"""Print the plan of a stack file: resources, verdicts and findings. Needs no engine and no account."""

from __future__ import annotations

from ops.cli import terminal
from ops.cli.options import File, Json, Stack, Why, chosen
from ops.plan import planning


def main(stack: Stack = None, file: File = None, json: Json = None, why: Why = False) -> int:
    """Print the plan of a stack file: resources, verdicts and findings. Needs no engine and no account."""
    made = planning.make(chosen(stack, file))
    if json is not None:
        terminal.write_json(made.to_data(), json)
    planning.show(terminal.out(quiet=str(json) == "-"), made, why=why)
    return made.exit
