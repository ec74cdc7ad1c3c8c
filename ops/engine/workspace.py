"""The temporary folder of one engine, which the next run removes if this process is killed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Generator

_PREFIX: Final = "gpu-ci-engine-"
_LOCK: Final = "in-use"
_YOUNG: Final = 3600.0
"""Seconds in which a folder without a lock may belong to a process that has just created it."""


@contextlib.contextmanager
def folder() -> Generator[Path]:
    """Create a folder, and remove it at the end. Its lock, which the kernel releases, shows that it is in use."""
    remove_leftovers(Path(tempfile.gettempdir()))
    # A process that ends may still write into the folder.
    with (
        tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as name,
        (Path(name) / _LOCK).open("w") as lock,
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Path(name)


def remove_leftovers(parent: Path) -> None:
    """Remove the folders of this user whose processes were killed."""
    for left in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            status = left.lstat()
            if status.st_uid == os.getuid() and left.is_dir() and not left.is_symlink() and not _in_use(left):
                shutil.rmtree(left, ignore_errors=True)


def _in_use(left: Path) -> bool:
    try:
        with (left / _LOCK).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return time.time() - left.lstat().st_mtime < _YOUNG
    except BlockingIOError:
        return True
    return False
