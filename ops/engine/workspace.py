"""The temporary folder of one engine, which the next run removes if this process is killed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import Final

_PREFIX: Final = "gpu-ci-engine-"
_LOCK: Final = "in-use"
_YOUNG: Final = 3600.0
"""Seconds in which a folder without a lock may belong to a process that has just created it."""


@contextlib.contextmanager
def folder() -> Generator[Path]:
    """Create a folder, and remove it at the end. Its lock, which the kernel releases, shows that it is in use."""
    parent = Path(tempfile.gettempdir())
    remove_leftovers(parent)
    with contextlib.ExitStack() as stack:
        while True:
            # A process that ends may still write into the folder.
            made = tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
            path = Path(stack.enter_context(made))
            lock = stack.enter_context((path / _LOCK).open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
            # Another process can remove the folder between the creation of the file and its lock.
            if (path / _LOCK).exists():
                break
        yield path


def remove_leftovers(parent: Path) -> None:
    """Remove the folders of this user whose processes were killed."""
    for left in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            status = left.lstat()
            if status.st_uid == os.getuid() and left.is_dir() and not left.is_symlink():
                _remove_unused(left)


def _remove_unused(left: Path) -> None:
    """Remove a folder while holding its lock, so that no process begins to use it meanwhile."""
    try:
        with (left / _LOCK).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left, ignore_errors=True)
    except FileNotFoundError:
        if time.time() - left.lstat().st_mtime >= _YOUNG:
            shutil.rmtree(left, ignore_errors=True)
    except BlockingIOError:
        return
