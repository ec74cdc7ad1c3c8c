"""`python -m ops`.

Most of the time of a plan is spent on importing the clouds' packages. If Python cannot write bytecode next to them
(`PYTHONDONTWRITEBYTECODE`, or a read-only environment in a container), the bytecode goes to the user's cache instead.
Otherwise every run would compile the packages again. The garbage collector runs less often, because nearly all objects
of a plan live until its end: that saves a tenth of its time.
"""

from __future__ import annotations

import sys

try:
    import gc

    from ops import cache

    if sys.dont_write_bytecode and sys.pycache_prefix is None:
        sys.pycache_prefix = str(cache.folder() / "bytecode")
        sys.dont_write_bytecode = False

    from ops.cli import machine

    try:
        from ops.cli.main import run
    except Exception as fault:
        problem = machine.described(fault)
        if problem is None or "--traceback" in sys.argv:
            raise
        print(problem, file=sys.stderr)  # The console's package may be the missing one.
        sys.exit(3)
except KeyboardInterrupt:
    # The command line, which handles Ctrl-C from here on, is not imported yet.
    print("Stopped.", file=sys.stderr)
    sys.exit(130)

gc.set_threshold(100_000, 50, 50)

sys.exit(run())
