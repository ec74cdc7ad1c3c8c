"""Where this project keeps what it made once and needs again, outside the checkout (XDG base directories, 0.8)."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def folder() -> Path:
    """Our own folder in the user's cache; in the folder for temporary files where a user has no home."""
    stated = os.environ.get("XDG_CACHE_HOME")
    if stated:
        return Path(stated) / "gpu-ci"
    try:
        return Path.home() / ".cache" / "gpu-ci"
    except RuntimeError:
        return Path(tempfile.gettempdir()) / f"gpu-ci-{os.getuid()}"
