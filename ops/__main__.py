"""`python -m ops`.

Owns one thing: that the second run is fast. Most of a plan's time is Python reading the clouds' packages, and where
nothing may be written beside them (`PYTHONDONTWRITEBYTECODE`, a read-only environment in a container) it would
compile them again each time; what it compiles is kept in the user's cache instead.
"""

from __future__ import annotations

import sys

from ops import cache

if sys.dont_write_bytecode and sys.pycache_prefix is None:
    sys.pycache_prefix = str(cache.folder() / "bytecode")
    sys.dont_write_bytecode = False

from ops.cli.main import run

sys.exit(run())
