"""Options that several commands have, and the stack file that they select."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from ops.outcome import Exit, Stop
from ops.plan.stack_file import StackFile, find, read

ROOT: Final = Path(__file__).resolve().parents[2]
"""The project's folder."""
DEFAULT_STACK: Final = "staging"

Stack = Annotated[
    str | None,
    typer.Option("--stack", "-s", help=f"The stack: <stack> of Pulumi.<stack>.yaml; {DEFAULT_STACK} by default."),
]
File = Annotated[Path | None, typer.Option("--file", "-f", help="Another stack file, for example one of examples/.")]
Json = Annotated[
    Path | None, typer.Option("--json", help="Also write the result as JSON to this file; - is standard output.")
]
Why = Annotated[
    bool, typer.Option("--why", help="Also print checks that passed, and the steps that led to each verdict.")
]


def chosen(stack: str | None, file: Path | None) -> StackFile:
    """Return the stack file that `--stack` or `--file` selects."""
    if stack is not None and file is not None:
        raise Stop(Exit.WRONG, "--stack and --file exclude each other; use one of them")
    return read(file if file is not None else find(stack or DEFAULT_STACK, ROOT))
