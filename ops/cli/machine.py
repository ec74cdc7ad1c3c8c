"""Faults of the machine: a full disk, a read-only folder, and a damaged Python environment.

They are not bugs of this project, so each is one line with its fix. This module imports only the standard library,
because it also reports an environment in which nothing else can be imported.
"""

from __future__ import annotations

import errno
import sys
import sysconfig
import traceback
from pathlib import Path
from types import ModuleType
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
"""The project's folder."""

_FIXES: Final = {
    errno.ENOSPC: "Free space, or set TMPDIR to a folder with more space",
    errno.EDQUOT: "Free space, or set TMPDIR to a folder with more space",
    errno.EROFS: "Name another folder, or use a checkout that can be written",
    errno.EACCES: "Change its permissions, or name another folder",
    errno.EPERM: "Change its permissions, or name another folder",
}


def described(fault: Exception) -> str | None:
    """Return a fault of the machine with its fix in one line; None for other exceptions."""
    if isinstance(fault, OSError) and fault.errno is not None:
        return _of_system(fault)
    frames = traceback.extract_tb(fault.__traceback__)
    importing = any(frame.filename.startswith("<frozen importlib") for frame in frames)
    if isinstance(fault, ImportError) and (missing := _own(fault.name)):
        return f"{missing} is missing or incomplete ({fault}). Restore it with git, or write it (CONTRIBUTING.md)"
    lacking = fault.obj if isinstance(fault, AttributeError) and isinstance(fault.obj, ModuleType) else None
    packages = sysconfig.get_paths()["purelib"], sysconfig.get_paths()["platlib"]
    inside = importing and frames[-1].filename.startswith(packages)
    if isinstance(fault, ImportError) or inside or (lacking is not None and not _own(lacking.__name__)):
        problem = " ".join(str(fault).split())
        return f"the Python environment {_shown(sys.prefix)} is damaged ({type(fault).__name__}: {problem}). {_INSTALL}"
    return None


def _of_system(fault: OSError) -> str:
    subject = f"{fault.filename}: " if fault.filename else ""
    fix = _FIXES.get(fault.errno or 0)
    return f"{subject}{fault.strerror}{f'. {fix}' if fix else ''}"


def _own(name: str | None) -> str | None:
    """Return the path of a module of this project, for an import that failed; None for another package."""
    path = (name or "").replace(".", "/")
    top = path.partition("/")[0]
    if not top or not ((ROOT / top).is_dir() or (ROOT / f"{top}.py").is_file()):
        return None
    return path if (ROOT / path).is_dir() else f"{path}.py"


def _shown(path: str) -> str:
    return str(Path(path).relative_to(ROOT)) if Path(path).is_relative_to(ROOT) else path


_INSTALL: Final = (
    "Remove the folder .venv, and run make again"
    if Path(sys.prefix).is_relative_to(ROOT)
    else "Install requirements.txt into it again"
)
