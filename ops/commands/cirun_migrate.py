"""Rewrite an old cirun file to today's form, and say what changed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from kit.cirun import FILE
from kit.closed import FileError
from ops.cirun_migrate import migrate


def main(
    file: Annotated[Path, typer.Argument(help="The old file.")] = Path(FILE),
    write: Annotated[bool, typer.Option("--write", help="Replace the file instead of printing the new one.")] = False,
) -> None:
    """Rewrite an old cirun file to today's form, and say what changed."""
    notes = Console(stderr=True, highlight=False)
    try:
        migration = migrate(file.read_text(encoding="utf-8"), str(file))
    except FileNotFoundError:
        notes.print(f"{file}: there is no such file; name the cirun file", markup=False)
        raise typer.Exit(2) from None
    except (OSError, UnicodeDecodeError) as error:
        notes.print(f"{file}: it cannot be read ({error}); give a UTF-8 file", markup=False)
        raise typer.Exit(2) from None
    except FileError as error:
        notes.print(str(error), markup=False, soft_wrap=True)
        raise typer.Exit(2) from None
    for note in migration.notes:
        notes.print(f"{note.path}: {note.change}", markup=False, soft_wrap=True)
    if not migration.notes:
        notes.print(f"{file}: of today's form already", markup=False, soft_wrap=True)
    elif write:
        file.write_text(migration.text, encoding="utf-8")
    if not write:
        typer.echo(migration.text, nl=False)
