"""Ctrl-C that is never lost.

Python raises it wherever the main thread happens to be. Inside a callback of the garbage collector, where a program
that makes thousands of objects often is, an exception goes nowhere but to `sys.unraisablehook`, and the run goes on.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Generator

_AGAIN: Final = 0.02
"""Seconds until the main thread is out of the callback."""


@contextlib.contextmanager
def heeded() -> Generator[None]:
    """Raise an interruption again where it was swallowed."""
    before = sys.unraisablehook

    def lost(what: sys.UnraisableHookArgs) -> None:
        if not issubclass(what.exc_type, KeyboardInterrupt):
            before(what)
            return
        again = threading.Timer(_AGAIN, os.kill, (os.getpid(), signal.SIGINT))
        again.daemon = True
        again.start()

    sys.unraisablehook = lost
    try:
        yield
    finally:
        sys.unraisablehook = before
