"""A PATH of fake commands that record their calls, and of harmless real ones."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.artefacts.callers import Run, run_as_called, run_step

__all__ = ["FakeCommands", "Run"]

HARMLESS = [
    "bash",
    "basename",
    "cat",
    "chmod",
    "cp",
    "cut",
    "dirname",
    "env",
    "find",
    "grep",
    "head",
    "install",
    "ln",
    "ls",
    "mkdir",
    "mktemp",
    "mv",
    "rm",
    "sed",
    "sleep",
    "sort",
    "tail",
    "touch",
    "tr",
    "wc",
]


class FakeCommands:
    """A folder of commands, and the log of their calls."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "commands"
        self.log = folder / "calls.log"
        self.path.mkdir()
        for name in HARMLESS:
            real = shutil.which(name)
            assert real, name
            (self.path / name).symlink_to(real)

    def add(self, name: str, body: str = "") -> None:
        """A command that logs its call and then does what `body` says, in bash; a new one takes its place."""
        file = self.path / name
        file.unlink(missing_ok=True)
        file.write_text(f'#!/bin/bash\nprintf "%s\\n" "{name} $*" >>"{self.log}"\n{body}\n', encoding="utf-8")
        file.chmod(0o755)

    def failing(self, name: str, words: str) -> None:
        """Make `name` fail where its arguments hold `words`, and do as before otherwise."""
        file = self.path / name
        before = file.read_text(encoding="utf-8")
        marker = f'case "$*" in *"{words}"*) exit 7;; esac\n'
        file.write_text(before.replace("\n", "\n" + marker, 1), encoding="utf-8")

    def calls(self) -> list[str]:
        """Every call so far, one a line."""
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []

    def run(self, command: list[str], environment: Mapping[str, str] | None = None) -> Run:
        """Run `command` with only these commands on PATH."""
        result = subprocess.run(
            command,
            env={"PATH": str(self.path), "HOME": os.environ.get("HOME", "/"), **(environment or {})},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        return Run(code=result.returncode, out=result.stdout, err=result.stderr)

    def run_as_called(self, text: str, content: str | Path, *words: str, **options: Any) -> Run:
        """Run a text as its caller does, with only these commands on PATH."""
        environment = {"PATH": str(self.path), **options.pop("environment", {})}
        return run_as_called(text, content, *words, world=self.path.parent, environment=environment, **options)

    def run_step(self, place: str, step: Mapping[str, Any], job: Mapping[str, Any], **options: Any) -> Run:
        """Run a step of a workflow, with only these commands on PATH."""
        environment = {"PATH": str(self.path), **options.pop("environment", {})}
        return run_step(place, step, job, world=self.path.parent, environment=environment, **options)
