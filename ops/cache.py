"""The cache of this project in the user's home, outside the checkout (XDG base directories, 0.8)."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def folder() -> Path:
    """Return our folder in the user's cache, or in the temporary folder for a user without a home."""
    stated = os.environ.get("XDG_CACHE_HOME")
    if stated:
        return Path(stated) / "gpu-ci"
    try:
        return Path.home() / ".cache" / "gpu-ci"
    except RuntimeError:
        return Path(tempfile.gettempdir()) / f"gpu-ci-{os.getuid()}"
