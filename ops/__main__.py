"""`python -m ops`.

Most of the time of a plan is spent on importing the clouds' packages. If Python cannot write bytecode next to them
(`PYTHONDONTWRITEBYTECODE`, or a read-only environment in a container), the bytecode goes to the user's cache instead.
Otherwise every run would compile the packages again.
"""

from __future__ import annotations

import sys

from ops import cache

if sys.dont_write_bytecode and sys.pycache_prefix is None:
    sys.pycache_prefix = str(cache.folder() / "bytecode")
    sys.dont_write_bytecode = False

from ops.cli.main import run

sys.exit(run())
