"""Finding the tools that tests run: a missing one is a failure in CI, and elsewhere a skip that says the way out."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest


def places() -> str:
    """Where tools are, as in `PATH`: beside this interpreter, where `make artefact-tools` puts them, and PATH."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    own = [str(Path(sys.executable).parent), str(Path(cache) / "gpu-ci" / "bin")]
    return os.pathsep.join([*own, os.environ.get("PATH", "")])


def tool(name: str) -> str:
    """The path of a command; without it, the test that asks is skipped, and fails in CI."""
    found = shutil.which(name, path=places())
    if found is not None:
        return found
    missing = f"{name} is not installed; run: make artefact-tools"
    if os.environ.get("CI") == "true":
        pytest.fail(missing)
    pytest.skip(missing)
