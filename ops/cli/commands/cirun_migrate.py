"""Update an old cirun file to the current format, report every change, and check the result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gpu_ci.knowledge.verdict import Level
from gpu_ci.repository.cirun import FILE
from gpu_ci.repository.cirun_checks import judge
from gpu_ci.repository.documents import FileError, read_text
from ops.cli import terminal
from ops.kit.migrate.migrate import Migration, migrate
from ops.outcome import Exit, Stop
from ops.plan.verdicts import line


def main(
    file: Annotated[Path, typer.Argument(help="The cirun file.")] = Path(FILE),
    write: Annotated[bool, typer.Option("--write", help="Replace the file instead of printing the new one.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Print only the changes and problems; write nothing.")] = False,
) -> None:
    """Update an old cirun file to the current format, report every change, and check the result.

    The exit code is 1 if a setting cannot work and, with --check, also if the format is outdated.
    """
    if write and check:
        raise Stop(Exit.WRONG, "--write and --check exclude each other; use one of them")
    migration = _migration(file)
    notes = terminal.err()
    for note in migration.notes:
        notes.print(f"{note.path}: {note.text}", markup=False, soft_wrap=True)
    if not migration.changed:
        notes.print(f"{file}: already in the current format", markup=False, soft_wrap=True)
    elif write:
        _written(file, migration.text)
    verdicts = judge(migration.runners, ours=False)
    for verdict in verdicts:
        line(notes, verdict)
    if not (write or check):
        typer.echo(migration.text, nl=False)
    if any(verdict.level is Level.ERROR for verdict in verdicts) or (check and migration.changed):
        raise Stop(Exit.FINDING)


def _migration(file: Path) -> Migration:
    try:
        return migrate(read_text(file, str(file)), str(file))
    except FileNotFoundError:
        raise Stop(Exit.WRONG, f"{file}: no such file; name the cirun file") from None
    except OSError as error:
        raise Stop(Exit.WRONG, f"{file}: cannot be read ({error.strerror}); name the cirun file") from None
    except FileError as error:
        raise Stop(Exit.WRONG, str(error)) from None


def _written(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Stop(Exit.WRONG, f"{file}: cannot be written ({error}); omit --write to print it") from None
