"""Write the files that a repository needs to use the runners of a stack."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from checks.untrusted_jobs import APPROVAL
from config.identity import PROJECT, Identity
from gpu.verdict import Level
from kit import stack as kit
from kit.cirun import FILE, read
from kit.cirun_checks import judge
from kit.cirun_workflow import TESTS_FILE
from kit.documents import FileError
from kit.gpu_tests import LOOKED_FOR, Found, gpu_tests, taken_for_granted
from ops.cli import terminal
from ops.cli.options import File, Stack, chosen
from ops.outcome import Exit, Stop
from ops.plan import typed
from ops.plan.verdicts import line
from wiring.outputs import gpu_test_image

if TYPE_CHECKING:
    from collections.abc import Mapping

    from config.settings import Settings

Out = Annotated[Path, typer.Option("--out", help="The folder to write into, for example the repository's checkout.")]
Repo = Annotated[
    str | None, typer.Option("--repo", help="The repository, as owner/name; selects its entry of gpu-tests.")
]
Check = Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 if a file differs.")]


def main(
    stack: Stack = None, file: File = None, out: Out = Path("out"), repo: Repo = None, check: Check = False
) -> None:
    """Write the files that a repository needs to use the runners of a stack."""
    stack_file = chosen(stack, file)
    settings = typed.settings(stack_file)
    identity = Identity(project=PROJECT, stack=stack_file.name, extra=settings.stack.tags)
    repository = _repository(repo, settings)
    try:
        files = kit.files(settings, identity, repository=repository)
    except FileError as error:
        raise Stop(Exit.WRONG, str(error)) from None
    if not files:
        raise Stop(Exit.FINDING, f"The runners of {stack_file.path.name} need no files in a repository.")
    console = terminal.out()
    _warn(settings, repository, files, out)
    stale = [path for path, text in files.items() if not _holds(out / path, text)]
    if check:
        if stale:
            raise Stop(Exit.FINDING, f"Out of date in {out}: {', '.join(stale)}. Run the command without --check.")
        console.print(f"All {len(files)} files in {out} are up to date.")
        return
    for path in stale:
        _write(out / path, files[path])
        console.print(f"Wrote {out / path}.", markup=False, soft_wrap=True)
    if not stale:
        console.print(f"The files in {out} are up to date.")
    if TESTS_FILE in files:
        line = f"A fork can edit these workflows, so the label alone does not stop it: {APPROVAL}."
        console.print(line, markup=False, soft_wrap=True)


def _repository(named: str | None, settings: Settings) -> str | None:
    """Return the entry of gpu-tests to use."""
    entries = list(settings.gpu_tests)
    if named is not None:
        return named.rpartition("/")[2]
    if len(entries) > 1:
        raise Stop(Exit.WRONG, f"gpu-tests has {', '.join(entries)}; name the repository: make kit REPO=owner/name")
    return entries[0] if entries else None


def _warn(settings: Settings, repository: str | None, files: Mapping[str, str], out: Path) -> None:
    """Print warnings about the files and the repository."""
    console = terminal.err()
    tested = gpu_tests(settings, repository, gpu_test_image(settings))
    if tested is None:
        return
    found = Found(
        files=frozenset(name for name in LOOKED_FOR if (out / name).exists()),
        lock=(out / "uv.lock").read_text(encoding="utf-8", errors="replace") if (out / "uv.lock").is_file() else "",
    )
    warnings = [
        *(verdict for verdict in judge(read(files[FILE]), ours=True) if verdict.level is Level.WARNING),
        *taken_for_granted(tested, settings, repository, found),
    ]
    for verdict in warnings:
        line(console, verdict)


def _holds(path: Path, text: str) -> bool:
    try:
        return path.is_file() and path.read_bytes() == text.encode()
    except OSError as error:
        raise Stop(Exit.WRONG, f"{path} cannot be read ({error}); choose another folder with --out") from None


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        wrong = f"{path} cannot be written ({error}); choose another folder with --out"
        raise Stop(Exit.WRONG, wrong) from None
