"""Puts the stand-in for gcloud on a PATH: by a shell, because a first line takes no interpreter with a space in its path."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Final

STAND_IN: Final = Path(__file__).parent / "stub_gcloud.py"


def put(folder: Path) -> None:
    """Make `folder`/gcloud; it is the stand-in itself that runs, and is signalled, under that process's number."""
    command = shlex.join([sys.executable, "-IS", str(STAND_IN)])
    gcloud = folder / "gcloud"
    gcloud.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    gcloud.chmod(0o755)
