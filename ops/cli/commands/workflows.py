"""Check the workflows of a repository against the runners of a stack."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from gpu_ci.knowledge.verdict import Level, Verdict
from gpu_ci.repository.documents import FileError, load_yaml, read_text
from ops.cli import terminal
from ops.cli.options import File, Json, Stack, chosen
from ops.kit import runs_on
from ops.kit.served import served, shown
from ops.outcome import Exit, Stop
from ops.plan import typed
from ops.plan.verdicts import counted, counts, line

WORKFLOWS: Final = Path(".github", "workflows")

Also = Annotated[
    str,
    typer.Option("--also", help="Other labels and groups that exist, with commas: of another stack, or of GitHub."),
]
Folder = Annotated[Path, typer.Argument(help="The checkout of the repository: the folder that contains .github.")]


def main(folder: Folder, stack: Stack = None, file: File = None, also: Also = "", json: Json = None) -> None:
    """Check the workflows of a repository against the runners of a stack.

    Reusable workflows of the repository are checked with the inputs of each call. The exit code is 1 if a job would
    never get a runner, or if the runner would end it.
    """
    stack_file = chosen(stack, file)
    settings = typed.settings(stack_file)
    runners = served(settings)
    files = _files(folder)
    workflows = {path.relative_to(folder).as_posix(): _document(folder, path) for path in files}
    found = runs_on.judge_all(workflows, runners, [one.strip() for one in also.split(",")])
    if json is not None:
        terminal.write_json([_data(verdict) for verdict in found], json)
    console = terminal.out(quiet=str(json) == "-")
    for level in (Level.ERROR, Level.WARNING):
        for verdict in found:
            if verdict.level is level:
                line(console, verdict)
    good = sum(verdict.level is Level.OK for verdict in found)
    summary = f"{counted(len(files), 'workflow')} checked against {stack_file.path.name}: {counted(good, 'job')} served"
    console.print(f"{summary}, {counts(found)}.", markup=False, soft_wrap=True)
    if any(verdict.level is Level.ERROR for verdict in found):
        raise Stop(Exit.FINDING)


def _files(folder: Path) -> list[Path]:
    """Return the workflows by name. GitHub does not read folders below that one."""
    where = folder / WORKFLOWS
    try:
        return sorted(path for path in where.iterdir() if path.suffix in {".yml", ".yaml"} and path.is_file())
    except FileNotFoundError:
        raise Stop(Exit.WRONG, f"{where}: no such folder; name the checkout of a repository") from None
    except OSError as failed:
        raise Stop(Exit.WRONG, f"{where} cannot be read ({failed}); name the checkout of a repository") from None


def _document(folder: Path, path: Path) -> object:
    """Return a workflow, or the reason why it is not one."""
    name = shown(path.relative_to(folder))
    try:
        return load_yaml(read_text(path, name), name)
    except FileError as refused:
        return refused
    except OSError as failed:
        raise Stop(Exit.WRONG, f"{path} cannot be read ({failed}); name the checkout of a repository") from None


def _data(verdict: Verdict) -> dict[str, str]:
    return {
        "level": str(verdict.level),
        "subject": verdict.subject,
        "reason": verdict.reason,
        "fix": verdict.fix,
    }
