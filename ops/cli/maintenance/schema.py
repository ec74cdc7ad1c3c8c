"""Write the JSON schema of the stack file, which editors use for completion and checks."""

from __future__ import annotations

from typing import Annotated

import typer

from gpu_ci.back_ends.stack_file import Settings
from gpu_ci.stack_file.reading.schema import stack_schema
from ops.cli import terminal
from ops.cli.options import ROOT
from ops.outcome import Exit, Stop

_PATH = ROOT / "schema" / "stack.schema.json"


def main(
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 if the committed schema is out of date.")
    ] = False,
) -> None:
    """Write the JSON schema of the stack file, which editors use for completion and checks."""
    content = terminal.encoded(stack_schema(Settings))
    name = _PATH.relative_to(ROOT)
    if not check:
        terminal.write_json(content, _PATH)
        terminal.out().print(f"Wrote {name}.")
    elif not _PATH.is_file() or _PATH.read_bytes() != content:
        raise Stop(Exit.FINDING, f"{name} is out of date. Run: make schema")
