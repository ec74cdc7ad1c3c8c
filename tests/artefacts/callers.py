"""The callers of the shipped texts, from `callers.yaml`, and runs of a text as its caller runs it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

import yaml


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A row of the table; `callers.yaml` describes its fields."""

    texts: Sequence[str]
    user: str | int
    folder: str
    environment: Mapping[str, str]
    source: str
    command: Sequence[str] = ()
    python: Sequence[int] = ()
    """The oldest Python of the caller."""

    def calls(self, text: str) -> bool:
        """Return whether this caller runs a text."""
        return any(fnmatchcase(text, one) for one in self.texts)

    @property
    def identity(self) -> dict[str, Any]:
        """Return the options of a process of the caller's user. Only root can start one of another user."""
        if isinstance(self.user, str) or os.geteuid() != 0:
            return {}
        return {"user": self.user, "group": self.user, "extra_groups": []}


CALLERS: Final = {
    name: Caller(**row) for name, row in yaml.safe_load(Path(__file__).with_name("callers.yaml").read_text()).items()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The result of a run."""

    code: int
    out: str
    err: str


def run_as_called(text: str, content: str | Path, *words: str, **where: Any) -> Run:
    """Run a text as its caller does; the arguments are those of `started_as_called`."""
    command, options = started_as_called(text, content, *words, **where)
    done = subprocess.run(command, **options, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
    return Run(code=done.returncode, out=done.stdout, err=done.stderr)


def started_as_called(
    text: str,
    content: str | Path,
    *words: str,
    world: Path,
    environment: Mapping[str, str],
    folder: Path | None = None,
    caller: str | None = None,
) -> tuple[list[str], dict[str, Any]]:
    """Return the command line and the options of `subprocess` for a text.

    Args:
        text: the id of the text.
        content: the text, or the file with it.
        words: the arguments.
        world: the folder of the test, which belongs to the caller's user during the run.
        environment: the variables besides those of the caller. Nothing else is inherited.
        folder: the working folder; the world if it is None.
        caller: the caller of a text that has several.

    """
    (row,) = (one for name, one in CALLERS.items() if one.calls(text) and one.command and caller in {None, name})
    file = content if isinstance(content, Path) else world / "called.sh"
    if isinstance(content, str) and "{file}" in row.command:
        file.write_text(content, encoding="utf-8")
    if row.command[0] == "{file}" or row.command[-2:] == ["-c", "{file}"]:
        file.chmod(0o755)
    if row.identity:
        _give(world, row.identity["user"])
    command = [part.replace("{file}", str(file)).replace("{text}", str(content)) for part in row.command]
    # The shell is that of the caller, also where PATH has only commands of the test.
    command[0] = shutil.which(command[0], path=environment.get("PATH")) or shutil.which(command[0]) or command[0]
    options = {"env": {**row.environment, **environment}, "cwd": folder or world, "text": True, **row.identity}
    return [*command, *words], options


def caller_of_step(step: Mapping[str, Any], job: Mapping[str, Any], workflow: Mapping[str, Any] | None = None) -> str:
    """Return the caller of a step, by the rules of GitHub for its shell."""
    stated = [step, *(one.get("defaults", {}).get("run", {}) for one in (job, workflow or {}))]
    shell = next((one["shell"] for one in stated if "shell" in one), None)
    if shell is None:
        return "a step in a container" if "container" in job else "a step"
    return f"a step with the shell {shell}"


def run_step(place: str, step: Mapping[str, Any], job: Mapping[str, Any], *, world: Path, **options: Any) -> Run:
    """Run a step of a job; `place` is the file of the workflow, or `kit`."""
    text = f"{place}: {step['name']}"
    return run_as_called(text, step["run"], world=world, caller=caller_of_step(step, job), **options)


def _give(world: Path, user: int) -> None:
    """Give a folder with its content to a user, who must be able to reach it."""
    closed = [one for one in world.resolve().parents if not one.stat().st_mode & 0o001]
    assert not closed, f"another user cannot enter {closed[0]}: use the fixture `open_path`"
    for folder, folders, files in os.walk(world):
        for name in (".", *folders, *files):
            os.chown(Path(folder, name), user, user, follow_symlinks=False)
