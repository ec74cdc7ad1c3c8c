"""Rewrite an old cirun file to today's form, say what changed, and judge what it says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from gpu.verdict import Level
from kit.cirun import FILE
from kit.cirun_checks import judge
from kit.closed import FileError
from kit.migrate.migrate import migrate
from ops.cli import terminal
from ops.outcome import Exit, Stop

if TYPE_CHECKING:
    from kit.migrate.migrate import Migration


def main(
    file: Annotated[Path, typer.Argument(help="The file: an old one, or one written by hand.")] = Path(FILE),
    write: Annotated[bool, typer.Option("--write", help="Replace the file instead of printing the new one.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Write and print no file; only say what is to be said.")
    ] = False,
) -> None:
    """Rewrite an old cirun file to today's form, say what changed, and judge what it says.

    Ends with 1 where something in it cannot work, and with --check also where its form is an old one.
    """
    if write and check:
        raise Stop(Exit.WRONG, "--write and --check are given; --check writes nothing, so give one of them")
    migration = _migration(file)
    notes = terminal.err()
    for note in migration.notes:
        notes.print(f"{note.path}: {note.change}", markup=False, soft_wrap=True)
    if not migration.notes:
        notes.print(f"{file}: of today's form already", markup=False, soft_wrap=True)
    elif write:
        _written(file, migration.text)
    verdicts = judge(migration.file, ours=False)
    for verdict in verdicts:
        line = f"{escape(verdict.subject)}: {escape(verdict.reason)}; {escape(verdict.fix)}"
        notes.print(f"[{verdict.level}]{verdict.level}[/] {line}", soft_wrap=True)
    if not (write or check):
        typer.echo(migration.text, nl=False)
    if any(verdict.level is Level.ERROR for verdict in verdicts) or (check and migration.notes):
        raise Stop(Exit.FINDING)


def _migration(file: Path) -> Migration:
    try:
        return migrate(file.read_text(encoding="utf-8"), str(file))
    except FileNotFoundError:
        raise Stop(Exit.WRONG, f"{file}: there is no such file; name the cirun file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise Stop(Exit.WRONG, f"{file}: it cannot be read ({error}); give a UTF-8 file") from None
    except FileError as error:
        raise Stop(Exit.WRONG, str(error)) from None


def _written(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Stop(
            Exit.WRONG, f"{file}: it cannot be written ({error}); leave --write out to have it printed"
        ) from None
