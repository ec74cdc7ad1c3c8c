"""The options that commands have in common, and the stack file they lead to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from ops.cli.outcome import Exit, Stop
from ops.plan.stack_file import StackFile, find, read

ROOT: Final = Path(__file__).resolve().parents[2]
"""The project's folder."""
DEFAULT_STACK: Final = "staging"

Stack = Annotated[
    str | None, typer.Option("--stack", "-s", help=f"The stack of Pulumi.<stack>.yaml; {DEFAULT_STACK} by default.")
]
File = Annotated[Path | None, typer.Option("--file", "-f", help="Another stack file, for example one of examples/.")]
Json = Annotated[
    Path | None, typer.Option("--json", help="Also write the result as JSON to this file; - is standard output.")
]
Why = Annotated[bool, typer.Option("--why", help="Also print what holds, and the steps that led to every verdict.")]


def chosen(stack: str | None, file: Path | None) -> StackFile:
    """The stack file that `--stack` or `--file` means."""
    if stack is not None and file is not None:
        raise Stop(Exit.WRONG, "--stack and --file both name a stack file; give one of them")
    return read(file if file is not None else find(stack or DEFAULT_STACK, ROOT))
