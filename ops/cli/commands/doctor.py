"""Find the first broken link between a job and its GPU, in the clouds as they are now."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from gpu_ci.back_ends.registry import stack_of
from gpu_ci.back_ends.stack import Stack as Checked
from gpu_ci.checks import verdicts
from gpu_ci.knowledge.nearest import nearest, suggestion
from gpu_ci.knowledge.verdict import Verdict
from gpu_ci.stack_file.identity import PROJECT, Identity
from ops.cli import terminal
from ops.cli.options import File, Json, Stack, Why, chosen
from ops.doctor import report
from ops.doctor.chain import CHECKS
from ops.doctor.check import Check
from ops.doctor.examination import examine
from ops.doctor.finding import Finding
from ops.doctor.world import bundle as bundles
from ops.doctor.world import live, recording
from ops.doctor.world.given_log import GivenLog
from ops.doctor.world.recording import Recorder
from ops.doctor.world.redaction import known_values
from ops.doctor.world.world import World
from ops.outcome import Exit, Stop
from ops.plan import typed
from ops.plan.stack_file import StackFile, read

Only = Annotated[
    list[str] | None, typer.Option("--only", help="Make only this check and those that it needs. Can be repeated.")
]
Offline = Annotated[
    Path | None,
    typer.Option("--offline", help="Read the answers from this bundle or folder instead of asking the clouds."),
]
Bundle = Annotated[
    Path | None, typer.Option("--bundle", help="Also write every answer, without secrets, to this file, as x.tar.gz.")
]
Log = Annotated[Path | None, typer.Option("--log", help="Look for known messages in this log of a job.")]
Repo = Annotated[
    str | None, typer.Option("--repo", help="Check this repository, OWNER/NAME, instead of those in the stack file.")
]
_LIVE: Final = "Asking the clouds, the cluster and GitHub"
_RECORDED: Final = "Reading the recorded answers"
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w-]*/[\w.-]+", re.ASCII)


def main(
    stack: Stack = None,
    file: File = None,
    json: Json = None,
    why: Why = False,
    only: Only = None,
    offline: Offline = None,
    bundle: Bundle = None,
    log: Log = None,
    repo: Repo = None,
) -> int:
    """Check the clouds, the cluster and GitHub as they are now, in the order in which a job needs them.

    Nothing is changed. The exit code is 1 if a link is broken, and 3 if a system did not answer.
    """
    checks = selected(only or ())
    if repo is not None and _REPOSITORY.fullmatch(repo) is None:
        raise Stop(Exit.WRONG, f"--repo: {repo} is not a repository with its owner; write OWNER/NAME")
    if offline is not None and (bundle or log or repo):
        raise Stop(Exit.WRONG, "--offline excludes --bundle, --log and --repo; the recording has their content")
    known = known_values(os.environ)
    with ExitStack() as opened:
        recorders: dict[str, Recorder] = {}
        path: Path | None = None
        if offline is not None:
            folder = opened.enter_context(bundles.opened(offline))
            world = _recorded(folder, chosen(stack, file) if stack or file else None)
        else:
            stack_file = chosen(stack, file)
            path, checked = stack_file.path, _stack(stack_file)
            sources = {**live.systems(checked), "log": GivenLog(log)}
            recorders = {name: Recorder(source, known) for name, source in sources.items()}
            world = World(stack=checked, now=datetime.now(UTC), repository=repo or "", **recorders)
        with terminal.progress(_RECORDED if offline is not None else _LIVE) as progress:
            found = examine(world, checks, step=progress.step)
    if bundle is not None and path is not None:
        taken = recording.taken(recorders, now=world.now, stack_file=path, repository=world.repository)
        plan = [_judged(one) for one in verdicts(world.stack)]
        bundles.save(bundle, taken, {bundles.RESULT: found.data(), bundles.PLAN: plan}, known)
    if json is not None:
        terminal.write_json(found.data(), json)
    console = terminal.out(quiet=str(json) == "-")
    report.show(console, found, why=why)
    if bundle is not None:
        console.print(
            f"{bundle} has every answer without secrets. Read it before you share it.", soft_wrap=True, markup=False
        )
    return found.exit


def selected(names: Sequence[str]) -> tuple[Check, ...]:
    """Return the named checks and all that they need, in the order of the chain; without names, all checks."""
    known = {one.name: one for one in CHECKS}
    wanted: set[str] = set()
    left = list(names or known)
    while left:
        name = left.pop()
        if name not in known:
            raise Stop(Exit.WRONG, f"--only: no check {name}; {suggestion(nearest(name, known), known)}")
        if name not in wanted:
            wanted.add(name)
            left += known[name].needs
    return tuple(one for one in CHECKS if one.name in wanted)


def _recorded(folder: Path, stack_file: StackFile | None) -> World:
    found = recording.read(folder)
    stack_file = stack_file or read(folder / found.stack_file)
    return World(stack=_stack(stack_file), now=found.now, repository=found.repository, **found.sources())


def _stack(stack_file: StackFile) -> Checked:
    settings = typed.settings(stack_file)
    return stack_of(settings, Identity(project=PROJECT, stack=stack_file.name, extra=settings.stack.tags))


def _judged(one: Verdict) -> dict[str, str]:
    """Return a verdict of the plan as JSON, in the form of a finding."""
    means = " ".join(one.chain)
    return Finding(level=one.level, subject=one.subject, seen=one.reason, means=means, fix=one.fix).data()
