"""The Python files of the project, without those of virtual environments."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]


@functools.cache
def python_files() -> tuple[Path, ...]:
    """Return all files, sorted. Virtual environments are skipped because they contain thousands of files."""
    found: list[Path] = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "node_modules"]
        found += [Path(folder, name) for name in files if name.endswith(".py")]
    return tuple(sorted(found))
