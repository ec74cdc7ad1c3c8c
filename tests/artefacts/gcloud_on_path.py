"""Put a fake gcloud on a PATH, as a shell script: the first line of a script allows no interpreter with a space."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Final

FAKE: Final = Path(__file__).parent / "fake_gcloud.py"


def put(folder: Path) -> None:
    """Create `folder`/gcloud. It replaces itself with the fake, so that signals reach the fake."""
    command = shlex.join([sys.executable, "-IS", str(FAKE)])
    gcloud = folder / "gcloud"
    gcloud.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    gcloud.chmod(0o755)
