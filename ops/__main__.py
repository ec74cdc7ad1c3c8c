"""`python -m ops`.

Owns one thing: that the second run is fast. Most of a plan's time is Python reading the clouds' packages, and where
nothing may be written beside them (`PYTHONDONTWRITEBYTECODE`, a read-only environment in a container) it would
compile them again each time; what it compiles is kept in the user's cache instead.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

if sys.dont_write_bytecode and sys.pycache_prefix is None:
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    sys.pycache_prefix = str(Path(cache) / "gpu-ci" / "bytecode")
    sys.dont_write_bytecode = False

from ops.cli import run

sys.exit(run())
