"""The other side of a comparison: the stack as another commit leaves it on fake clouds.

The program of that commit runs in a copy of its files, with the Python packages of this checkout. The result is cached
by the hash of the commit's tree. A base that cannot run is no error: its faults are part of the report.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

from gpu_ci.knowledge.nearest import did_you_mean
from gpu_ci.policy.exceptions import TODAY
from ops import cache
from ops.engine.process import exiting_on_terminate
from ops.engine.upgrade import Recorded
from ops.outcome import Exit, Stop

KEPT: Final = 20
"""Recorded bases in the cache; each has some hundred kilobytes."""
_MINUTES: Final = 10
"""Minutes after which the program of a base counts as hanging."""
_GRACE: Final = 20
"""Seconds for an interrupted program to end its engine and to remove its folder."""
_PACKAGES: Final = "requirements.txt"
"""The file with the versions of the Python packages."""


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
    uncommitted: tuple[str, ...] = ()
    """The files of this checkout that no commit contains in this form, as git lists them. They are compared, too."""

    notes: tuple[str, ...] = ()
    """Sentences about the comparison that a reviewer must know."""

    @property
    def new(self) -> bool:
        """Return True if the stack does not exist at that commit."""
        return self.state is None and not self.faults


def base(name: str, stack_file: Path, root: Path, stage: Callable[[str], None]) -> Base:
    """Return the stack file's stack at the commit `name`.

    Raises:
        Stop: there is no such commit, or the stack file is not part of the repository.

    """
    commit = _commit(root, name)
    try:
        path = stack_file.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        raise Stop(Exit.WRONG, f"{stack_file} is outside the repository, so no other commit has it") from None
    # An exception that has ended since then was valid, so the stack still runs.
    day = datetime.fromtimestamp(int(_git(root, "show", "--no-patch", "--format=%ct", commit)), UTC).date()
    tree = _git(root, "rev-parse", f"{commit}:{_git(root, 'rev-parse', '--show-prefix')}")
    status = _git(root, "-c", "core.quotePath=false", "status", "--porcelain", "--untracked-files=normal")
    packages = (root / _PACKAGES).read_text(encoding="utf-8").strip() if (root / _PACKAGES).is_file() else ""
    found = Base(
        name=name,
        commit=commit[:10],
        uncommitted=tuple(line.strip() for line in status.splitlines()),
        notes=_notes(packages, _git(root, "show", f"{tree}:{_PACKAGES}"), name),
    )
    if not _git(root, "rev-parse", "--verify", "--quiet", f"{tree}:{path}"):
        return found
    key = f"{tree}-{hashlib.sha256(packages.encode()).hexdigest()[:8]}-{path.replace('/', '-')}"
    with _place(key, stage) as kept:
        recorded = _read(kept, found)
        if recorded is None:
            stage(f"Bringing {Path(path).stem.removeprefix('Pulumi.')} of {name} ({found.commit}) up on fake clouds")
            faults = _record(root, tree, path, kept, day)
            recorded = replace(found, faults=faults) if faults else _read(kept, found)
    return recorded or replace(found, faults=("its program recorded no state",))


def _commit(root: Path, name: str) -> str:
    """Return the hash of a commit, or end with the reason why there is none."""
    if not _git(root, "rev-parse", "--show-toplevel"):
        message = f"{root} is no git repository, so there is no other commit; clone the project with git"
        raise Stop(Exit.WRONG, message)
    commit = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if commit:
        return commit
    refs = _git(root, "for-each-ref", "--format=%(refname:short)").split()
    fix = did_you_mean(name, refs) if refs else "fetch it, or state another commit"
    if _git(root, "rev-parse", "--is-shallow-repository") == "true":
        fix += ". This clone has only a part of the history: run `git fetch --unshallow origin`, or write "
        fix += "`fetch-depth: 0` for the step `actions/checkout`"
    raise Stop(Exit.WRONG, f"BASE={name}: there is no such commit in this repository; {fix}")


def _notes(here: str, there: str, name: str) -> tuple[str, ...]:
    if there == here:
        return ()
    return (f"{name} states other Python packages in {_PACKAGES}; its program runs with those of this folder.",)


@contextlib.contextmanager
def _place(key: str, stage: Callable[[str], None]) -> Generator[Path]:
    """Yield the folder of a recorded base, while no other process records; a temporary one without a cache."""
    parent = cache.folder() / "bases"
    with contextlib.ExitStack() as stack:
        try:
            parent.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context((parent / "lock").open("w"))
        except OSError as error:
            if not (parent / key / "state.json").is_file():
                stage(f"{parent} cannot be written ({error.strerror}), so the result is not kept")
                parent = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gpu-ci-base-")))
        else:
            _wait(lock, stage)
            for left in parent.glob("running-*"):
                shutil.rmtree(left, ignore_errors=True)
        yield parent / key


def _wait(lock: io.TextIOWrapper, stage: Callable[[str], None]) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stage("Waiting for another comparison that prepares its base")
        fcntl.flock(lock, fcntl.LOCK_EX)


def _read(kept: Path, found: Base) -> Base | None:
    """Return a recorded base; None if it is not complete."""
    try:
        plan = json.loads((kept / "plan.json").read_text(encoding="utf-8"))
        state = Recorded.read(kept / "state.json")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if not isinstance(plan, dict):
        return None
    with contextlib.suppress(OSError):
        os.utime(kept)
    return replace(found, state=state, plan=plan)


def file_at(root: Path, commit: str, path: str) -> str:
    """Return a text file of a commit; empty if it has none."""
    return _git(root, "show", f"{commit}:{path}")


def _record(root: Path, tree: str, path: str, kept: Path, day: date) -> tuple[str, ...]:
    """Run the program of a tree as on a day, and keep its result; return the reasons why it cannot run."""
    with tempfile.TemporaryDirectory(dir=kept.parent, prefix="running-", ignore_cleanup_errors=True) as made:
        folder, out = Path(made) / "files", Path(made) / "out"
        top = _git(root, "rev-parse", "--show-toplevel")
        archive = subprocess.run(["git", "-C", top, "archive", tree], capture_output=True, check=False)
        if archive.returncode:
            return (f"git cannot read its files: {archive.stderr.decode(errors='replace').strip()}",)
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
            files.extractall(folder, filter="data")
        faults = _run([sys.executable, "-m", "ops", "snapshot", "--file", path, "--out", str(out)], folder, day)
        if faults:
            return faults
        shutil.rmtree(kept, ignore_errors=True)
        out.rename(kept)
    for old in sorted(kept.parent.glob("*-*"), key=lambda one: one.stat().st_mtime, reverse=True)[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
    return ()


def _run(command: list[str], folder: Path, day: date) -> tuple[str, ...]:
    """Run the program of a base; return the reasons why it failed. It never outlives this process."""
    environment = {**os.environ, TODAY: day.isoformat(), "NO_COLOR": "1", "COLUMNS": "200", "TERM": "dumb"}
    with (
        exiting_on_terminate(),
        subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            encoding="utf-8",
            errors="replace",
            # A terminal sends Ctrl-C to a whole process group, and a second one would end the cleaning.
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process,
    ):
        try:
            out, err = process.communicate(timeout=_MINUTES * 60)
        except BaseException as error:
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=_GRACE)
            process.kill()
            if isinstance(error, subprocess.TimeoutExpired):
                return (f"its program did not end within {_MINUTES} minutes",)
            raise
    if process.returncode == 0:
        return ()
    lines = [line.rstrip() for line in f"{out}\n{err}".splitlines()]
    return tuple(line for line in lines if line) or (f"its program ended with exit code {process.returncode}",)


def _git(root: Path, *arguments: str) -> str:
    """Return what git prints; empty if it fails."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, check=False, text=True, encoding="utf-8"
        )
    except FileNotFoundError:
        raise Stop(Exit.OUTSIDE, "git is not installed; a comparison with another commit needs it") from None
    return done.stdout.strip() if done.returncode == 0 else ""
