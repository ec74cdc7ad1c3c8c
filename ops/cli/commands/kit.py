"""Write the files that a repository needs to use the runners of a stack."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from components.github.settings import commands
from gpu_ci.checks.untrusted_jobs import APPROVAL
from gpu_ci.derived import repository_settings
from gpu_ci.derived.outputs import gpu_test_image
from gpu_ci.knowledge.verdict import Level
from gpu_ci.repository.cirun import FILE, read
from gpu_ci.repository.cirun_checks import judge
from gpu_ci.repository.documents import FileError
from gpu_ci.repository.gpu_workflow import CHECK, TESTS_FILE
from gpu_ci.stack_file.identity import PROJECT, Identity
from gpu_ci.stack_file.sections.gpu_tests import GpuTestsSettings
from gpu_ci.stack_file.sections.settings import Settings
from gpu_ci.stack_file.values.github import OWNER, REPOSITORY
from ops.cli import terminal
from ops.cli.options import File, Json, Stack, chosen
from ops.kit import stack as kit
from ops.kit.folder import Comparison, State, compare, difference
from ops.kit.gpu_tests import LOOKED_FOR, Found, gpu_tests, taken_for_granted
from ops.kit.scripts import LABELS_FILE
from ops.kit.served import shown
from ops.outcome import Exit, Stop
from ops.plan import typed
from ops.plan.verdicts import line

if TYPE_CHECKING:
    from rich.console import Console


_NAME: Final = re.compile(rf"({OWNER}/)?{REPOSITORY}")

Out = Annotated[Path, typer.Option("--out", help="The folder to write into, for example the repository's checkout.")]
Repo = Annotated[
    str | None, typer.Option("--repo", help="The repository, as owner/name; selects its entry of gpu-tests.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that other people wrote or changed.")]
Check = Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 if a file differs.")]


def main(
    stack: Stack = None,
    file: File = None,
    out: Out = Path("out"),
    repo: Repo = None,
    check: Check = False,
    force: Force = False,
    json: Json = None,
) -> None:
    """Write the files that a repository needs to use the runners of a stack.

    Files that other people wrote or changed are not overwritten: the command shows the differences, writes nothing and
    exits with 1, unless --force is given.
    """
    with terminal.progress("Read the stack file") as progress:
        stack_file = chosen(stack, file)
        settings = typed.settings(stack_file)
        identity = Identity(project=PROJECT, stack=stack_file.name, extra=settings.stack.tags)
        repository = _repository(repo, settings)
        progress.stage("Render the files")
        try:
            files = kit.files(settings, identity, repository=repository)
        except FileError as error:
            raise Stop(Exit.WRONG, str(error)) from None
    console = terminal.out(quiet=str(json) == "-")
    _warn(settings, identity, repository, files, out)
    compared = _compare(out, files, stack_file.name)
    differences = {path: difference(out, path, files[path]) for path in compared.in_state(State.CHANGED)}
    by_hand = _by_hand(settings, repo or repository, files)
    if json is not None:
        data = {"files": compared.states, "stale": compared.stale, "differences": differences, "commands": by_hand}
        terminal.write_json(data, json)
    for path in compared.stale:
        line = f"{out / path} is from an earlier run and is not written any more; delete it."
        console.print(line, markup=False, soft_wrap=True)
    if not files:
        console.print(f"The runners of {stack_file.path.name} need no files in a repository.", soft_wrap=True)
        return
    if check:
        _check(console, compared, out)
        return
    if differences and not force:
        for text in differences.values():
            console.print(text, markup=False, soft_wrap=True)
        raise Stop(Exit.FINDING, _refusal([out / path for path in differences]))
    _write(console, compared, out)
    _tell(console, by_hand, files)


def _compare(out: Path, files: Mapping[str, str], stack: str) -> Comparison:
    try:
        compared = compare(out, files, stack)
        if compared.states.get(LABELS_FILE) is not State.CHANGED:
            return compared
        # Other people's settings of actionlint are in the same file.
        line = f"{out / LABELS_FILE} has other content and stays; add the labels of the runners to it:"
        terminal.err().print(f"{line}\n{files[LABELS_FILE]}", markup=False, soft_wrap=True)
        others = compare(out, {path: text for path, text in files.items() if path != LABELS_FILE}, stack)
        return replace(others, stale=tuple(path for path in others.stale if path != LABELS_FILE))
    except OSError as error:
        raise Stop(Exit.WRONG, f"{out} cannot be written ({error}); choose another folder with --out") from None


def _by_hand(settings: Settings, repository: str | None, files: Mapping[str, str]) -> tuple[str, ...]:
    """Return the commands for the settings that the workflows need; none where the stack sets them."""
    if not any(path.startswith(".github/workflows/gpu-") for path in files):
        return ()
    entry = settings.gpu_tests.get((repository or "").rpartition("/")[2], GpuTestsSettings())
    # With `paths`, GitHub skips the workflow for other changes, and would wait for its check.
    found = repository_settings.by_hand(settings, repository, None if entry.paths or TESTS_FILE not in files else CHECK)
    return commands(found) if found is not None else ()


def _check(console: Console, compared: Comparison, out: Path) -> None:
    """Report files that differ, without writing."""
    differ = [*(path for path, state in compared.states.items() if state is not State.CURRENT), *compared.stale]
    if differ:
        raise Stop(Exit.FINDING, f"Out of date in {out}: {', '.join(differ)}. Run the command without --check.")
    console.print(f"All {len(compared.files)} files in {out} are up to date.", markup=False, soft_wrap=True)


def _repository(named: str | None, settings: Settings) -> str | None:
    """Return the entry of gpu-tests to use."""
    entries = list(settings.gpu_tests)
    if named is not None:
        if _NAME.fullmatch(named) is None:
            raise Stop(Exit.WRONG, f'--repo: "{shown(named)}" is not the name of a repository; write it as owner/name')
        return named.rpartition("/")[2]
    if len(entries) > 1:
        raise Stop(Exit.WRONG, f"gpu-tests has {', '.join(entries)}; name the repository: make kit REPO=owner/name")
    return entries[0] if entries else None


def _warn(settings: Settings, identity: Identity, repository: str | None, files: Mapping[str, str], out: Path) -> None:
    """Print warnings about the files and the repository."""
    console = terminal.err()
    tested = gpu_tests(settings, identity, repository, gpu_test_image(settings))
    if tested is None:
        return
    found = Found(
        files=frozenset(name for name in LOOKED_FOR if (out / name).exists()),
        lock=(out / "uv.lock").read_text(encoding="utf-8", errors="replace") if (out / "uv.lock").is_file() else "",
    )
    cirun = judge(read(files[FILE]), ours=True) if FILE in files else ()
    warnings = [
        *(verdict for verdict in cirun if verdict.level is Level.WARNING),
        *taken_for_granted(tested, settings, repository, found),
    ]
    for verdict in warnings:
        line(console, verdict)


def _tell(console: Console, by_hand: Sequence[str], files: Mapping[str, str]) -> None:
    """Print the settings that the repository needs at GitHub."""
    if by_hand:
        console.print("Settings of the repository at GitHub, by the GitHub CLI:", soft_wrap=True)
    for command in by_hand:
        console.print(f"  {command}", markup=False, soft_wrap=True)
    if TESTS_FILE in files:
        line = f"A fork can edit these workflows, so the label alone does not stop it: {APPROVAL}."
        console.print(line, markup=False, soft_wrap=True)


def _refusal(paths: Sequence[Path]) -> str:
    return (
        f"{', '.join(map(str, paths))}: changed by others, so nothing was written; move the changes to files of their "
        "own, or overwrite them with --force (make kit FORCE=1)"
    )


def _write(console: Console, compared: Comparison, out: Path) -> None:
    """Write every file that differs."""
    outdated = [path for path, state in compared.states.items() if state is not State.CURRENT]
    for path in (out / one for one in outdated):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(compared.files[path.relative_to(out).as_posix()], encoding="utf-8")
        except OSError as error:
            wrong = f"{path} cannot be written ({error}); choose another folder with --out"
            raise Stop(Exit.WRONG, wrong) from None
        console.print(f"Wrote {path}.", markup=False, soft_wrap=True)
    if not outdated:
        console.print(f"The files in {out} are up to date.", markup=False, soft_wrap=True)
