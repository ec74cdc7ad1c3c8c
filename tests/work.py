"""Count the work of a function. The same input takes the same number of calls on every machine, unlike the same time."""

from __future__ import annotations

import cProfile
from collections.abc import Callable


def calls(work: Callable[[], object]) -> int:
    """Return the number of function calls in a run of `work`."""
    profile = cProfile.Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())
