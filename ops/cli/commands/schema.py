"""Write the stack file's JSON schema, which editors complete and check stack files with."""

from __future__ import annotations

from typing import Annotated

import typer

from config.schema import stack_schema
from ops.cli import terminal
from ops.cli.options import ROOT
from ops.cli.outcome import Exit, Stop

_PATH = ROOT / "schema" / "stack.schema.json"


def main(
    check: Annotated[bool, typer.Option("--check", help="Only say whether the committed schema is this one.")] = False,
) -> None:
    """Write the stack file's JSON schema, which editors complete and check stack files with."""
    content = terminal.encoded(stack_schema())
    name = _PATH.relative_to(ROOT)
    if not check:
        terminal.write_json(content, _PATH)
        terminal.out().print(f"{name} is written.")
    elif not _PATH.is_file() or _PATH.read_bytes() != content:
        raise Stop(Exit.FINDING, f"{name} is not what the types say. Run: make schema")
