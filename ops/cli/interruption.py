"""A guard against a lost Ctrl-C.

Python raises `KeyboardInterrupt` wherever the main thread is. In a callback of the garbage collector, the
exception only reaches `sys.unraisablehook`, and the program goes on.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Generator
from typing import Final

_DELAY: Final = 0.02
"""Seconds until the main thread has left the callback."""


@contextlib.contextmanager
def raise_again() -> Generator[None]:
    """Raise a `KeyboardInterrupt` again if a callback swallowed it."""
    before = sys.unraisablehook

    def swallowed(what: sys.UnraisableHookArgs) -> None:
        if not issubclass(what.exc_type, KeyboardInterrupt):
            before(what)
            return
        timer = threading.Timer(_DELAY, os.kill, (os.getpid(), signal.SIGINT))
        timer.daemon = True
        timer.start()

    sys.unraisablehook = swallowed
    try:
        yield
    finally:
        sys.unraisablehook = before
