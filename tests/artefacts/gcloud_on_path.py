"""Put a fake gcloud and this interpreter on a PATH, as a shell script: the first line of a script allows no interpreter with a space."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Final

FAKE: Final = Path(__file__).parent / "fake_gcloud.py"


def put(folder: Path) -> None:
    """Create gcloud, which replaces itself with the fake so that signals reach it, and `python3` without packages."""
    (folder / "python3").symlink_to(sys.executable)
    command = shlex.join([sys.executable, "-IS", str(FAKE)])
    gcloud = folder / "gcloud"
    gcloud.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    gcloud.chmod(0o755)
