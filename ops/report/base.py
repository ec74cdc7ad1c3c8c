"""The other side of a comparison: the stack as another commit leaves it on fake clouds.

The program of that commit runs in a copy of its files, with the Python packages of this checkout. The result is cached
by the hash of the commit's tree. A base that cannot run is no error: its faults are part of the report.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gpu.nearest import did_you_mean
from ops import cache
from ops.engine.upgrade import Recorded
from ops.outcome import Exit, Stop

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

KEPT: Final = 20
"""Recorded bases in the cache; each has some hundred kilobytes."""
_MINUTES: Final = 10
"""Minutes after which the program of a base counts as hanging."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A stack at another commit."""

    name: str
    """As the user wrote it, for example `origin/main`."""
    commit: str
    """The short hash."""
    state: Recorded | None = None
    """The state that it leaves; None where the stack does not exist there, or cannot run."""
    plan: Mapping[str, Any] | None = None
    """Its plan as `plan --json` writes it."""
    faults: tuple[str, ...] = ()
    """The reasons why it cannot run, a line each."""

    @property
    def new(self) -> bool:
        """Return True if the stack does not exist at that commit."""
        return self.state is None and not self.faults


def base(name: str, stack_file: Path, root: Path, stage: Callable[[str], None]) -> Base:
    """Return the stack file's stack at the commit `name`.

    Raises:
        Stop: there is no such commit, or the stack file is not part of the repository.

    """
    commit = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if not commit:
        refs = _git(root, "for-each-ref", "--format=%(refname:short)").split()
        fix = did_you_mean(name, refs) if refs else "fetch it, or state another commit"
        raise Stop(Exit.WRONG, f"BASE={name}: there is no such commit in this repository; {fix}")
    try:
        path = stack_file.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        raise Stop(Exit.WRONG, f"{stack_file} is outside the repository, so no other commit has it") from None
    short, tree = commit[:10], _git(root, "rev-parse", f"{commit}^{{tree}}")
    if not _git(root, "ls-tree", "--name-only", tree, "--", path):
        return Base(name=name, commit=short)
    kept = cache.folder() / "bases" / f"{tree}-{path.replace('/', '-')}"
    if not (kept / "state.json").is_file():
        stage(f"Bringing {Path(path).stem} of {name} ({short}) up on fake clouds")
        faults = _record(root, tree, path, kept)
        if faults:
            return Base(name=name, commit=short, faults=faults)
    os.utime(kept)
    return Base(
        name=name,
        commit=short,
        state=Recorded.read(kept / "state.json"),
        plan=json.loads((kept / "plan.json").read_text(encoding="utf-8")),
    )


def _record(root: Path, tree: str, path: str, kept: Path) -> tuple[str, ...]:
    """Run the program of a tree and keep its result; return the reasons why it cannot run."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent, prefix="running-", ignore_cleanup_errors=True) as made:
        folder, out = Path(made) / "files", Path(made) / "out"
        folder.mkdir()
        archive = subprocess.run(["git", "-C", str(root), "archive", tree], capture_output=True, check=True)
        subprocess.run(["tar", "--extract", "--directory", str(folder)], input=archive.stdout, check=True)
        command = [sys.executable, "-m", "ops", "snapshot", "--file", path, "--out", str(out)]
        environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200", "TERM": "dumb"}
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=_MINUTES * 60
            )
        except subprocess.TimeoutExpired:
            return (f"its program did not end within {_MINUTES} minutes",)
        if done.returncode:
            lines = [line.rstrip() for line in f"{done.stdout}\n{done.stderr}".splitlines()]
            return tuple(line for line in lines if line) or (f"its program ended with exit code {done.returncode}",)
        shutil.rmtree(kept, ignore_errors=True)
        out.rename(kept)
    for old in sorted(kept.parent.glob("*-*"), key=lambda one: one.stat().st_mtime, reverse=True)[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
    return ()


def _git(root: Path, *arguments: str) -> str:
    """Return what git prints; empty if it fails."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, check=False, text=True, encoding="utf-8"
        )
    except FileNotFoundError:
        raise Stop(Exit.OUTSIDE, "git is not installed; a comparison with another commit needs it") from None
    return done.stdout.strip() if done.returncode == 0 else ""
