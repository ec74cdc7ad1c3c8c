"""The guard of a run against a job that no runner takes. GitHub would keep it in the queue for a day."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from gpu_ci.back_ends.start_stop.gpu_instance.problems import TimedOut, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpu_ci.back_ends.start_stop.gpu_instance.github_runners import GitHub
    from gpu_ci.back_ends.start_stop.gpu_instance.life import Clock

POLL: Final = timedelta(seconds=15)
QUEUED: Final = frozenset({"queued", "requested", "waiting", "pending", None})
"""The statuses of a job that no runner has, and None before GitHub has created it."""
ATTEMPTS: Final = 5
"""Requests to cancel the run."""


def guard(
    github: GitHub, run: str, attempt: str, job: str, limit: timedelta, clock: Clock, say: Callable[[str], None]
) -> None:
    """Wait until a runner has taken `job` of this run, and cancel the run after `limit`.

    It only sees and cancels its own run, never that of another person.

    Raises:
        TimedOut: the run is cancelled.
        Unavailable: GitHub did not accept the cancellation.

    """
    deadline = clock.now() + limit
    while clock.now() < deadline:
        try:
            status = github.job(run, attempt, job)
            if status not in QUEUED:
                say(f'"{job}" is {status}')
                return
            say(f'"{job}" waits for a runner')
        except Unavailable as error:
            say(str(error))
        clock.sleep(POLL)
    for left in reversed(range(ATTEMPTS)):
        try:
            github.cancel(run)
            break
        except Unavailable as error:
            say(str(error))
            if not left:
                raise
            clock.sleep(POLL)
    raise TimedOut(f'no runner took "{job}" within {limit}, so this run is cancelled; look at the runner')
