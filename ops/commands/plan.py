"""Print what a stack file leads to: resources, verdicts, findings. Needs no engine and no account."""

from __future__ import annotations

from ops import planning, terminal
from ops.options import File, Json, Stack, Why, chosen


def main(stack: Stack = None, file: File = None, json: Json = None, why: Why = False) -> int:
    """Print what a stack file leads to: resources, verdicts, findings. Needs no engine and no account."""
    made = planning.make(chosen(stack, file))
    if json is not None:
        terminal.write_json(made.to_data(), json)
    planning.show(terminal.out(quiet=str(json) == "-"), made, why=why)
    return made.exit
