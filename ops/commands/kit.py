"""Write the files that a repository needs to use a stack's runners."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from config.identity import Identity
from config.load import PROJECT, settings_of
from kit import stack as kit
from ops import terminal
from ops.options import File, Stack, chosen
from ops.outcome import Exit, Stop

Out = Annotated[Path, typer.Option("--out", help="The folder to write into: the repository's own, or any other.")]
Check = Annotated[bool, typer.Option("--check", help="Write nothing; say whether the files there are these.")]


def main(stack: Stack = None, file: File = None, out: Out = Path("out"), check: Check = False) -> None:
    """Write the files that a repository needs to use a stack's runners."""
    stack_file = chosen(stack, file)
    settings = settings_of(stack_file.config, stack_file.secret_keys, stack_file.name, stack_file.path.name)
    identity = Identity(project=PROJECT, stack=stack_file.name, extra=settings.stack.tags)
    files = kit.files(settings, identity)
    if not files:
        raise Stop(
            Exit.FINDING, f"{stack_file.path.name} has no runner that cirun serves, so there is no file to write."
        )
    console = terminal.out()
    stale = [path for path, text in files.items() if not _holds(out / path, text)]
    if check:
        if stale:
            raise Stop(Exit.FINDING, f"{', '.join(stale)} in {out} are not what {stack_file.path.name} says.")
        console.print(f"{len(files)} files in {out} are what {stack_file.path.name} says.")
        return
    for path in stale:
        _write(out / path, files[path])
        console.print(f"{out / path} is written.", markup=False, soft_wrap=True)
    if not stale:
        console.print(f"The files in {out} are up to date.")


def _holds(path: Path, text: str) -> bool:
    try:
        return path.is_file() and path.read_bytes() == text.encode()
    except OSError as error:
        raise Stop(Exit.WRONG, f"{path} cannot be read ({error}); give a folder of your own with --out") from None


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        wrong = f"{path} cannot be written ({error}); give a folder that can be written with --out"
        raise Stop(Exit.WRONG, wrong) from None
