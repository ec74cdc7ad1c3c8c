"""A pipeline on the real engine: a checkout with commits, and a `pulumi` on PATH that runs the program of a test."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest import mock

from ops.engine.engine import Engine
from ops.engine.pulumi_cli import Found

SHIM = """#!{python}
import os, pathlib, sys
words = sys.argv[1:]
with pathlib.Path({calls!r}).open("a") as calls:
    calls.write(" ".join(words) + "\\n")
if words[0] in ("preview", "up"):
    # The pack has an environment of its own, which tests of the engine do not have.
    words = [word for word in words if word not in ("--policy-pack", "gpu_ci/policy")] + {options!r}
os.execv({cli!r}, [{cli!r}, *words])
"""


class Pipeline:
    """The checkout is the folder of the engine, so that the history of the stack has its commits."""

    def __init__(self, cli: Found, engine: Engine, folder: Path) -> None:
        self._cli = cli
        self._engine = engine
        self.folder = folder
        self.calls = folder / "calls"
        self.summary = folder / "summary.md"
        self.outputs = folder / "outputs"
        self.git("init", "--quiet")
        self.commit("one")

    def git(self, *words: str) -> str:
        """Run git in the checkout."""
        people = {f"GIT_{who}_{what}": "x@y.z" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        command = ["git", "-C", str(self._engine.folder), *words]
        return subprocess.run(
            command, env={**os.environ, **people}, check=True, capture_output=True, text=True
        ).stdout.strip()

    def commit(self, message: str) -> str:
        """Add a commit, and return it."""
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    def run(self, main: Callable[[Sequence[str]], int], *words: str) -> tuple[int, str]:
        """Run a module of the pipeline in this process; return the exit code and the output."""
        with self._engine.serving() as (settings, options), contextlib.ExitStack() as patched:
            shim = self.folder / "pulumi"
            own = {"python": sys.executable, "calls": str(self.calls), "cli": str(self._cli.path)}
            shim.write_text(SHIM.format(**own, options=list(options)))
            shim.chmod(0o755)
            environment = {
                **settings,
                "PATH": f"{self.folder}:{settings['PATH']}",
                "RUNNER_TEMP": str(self.folder),
                "GITHUB_STEP_SUMMARY": str(self.summary),
                "GITHUB_OUTPUT": str(self.outputs),
            }
            patched.enter_context(mock.patch.dict(os.environ, environment, clear=True))
            patched.enter_context(contextlib.chdir(self._engine.folder))
            printed = patched.enter_context(contextlib.redirect_stdout(io.StringIO()))
            code = main(words)
        return code, printed.getvalue()
