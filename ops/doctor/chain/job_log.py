"""Look for known messages in the log of a job: the given file, or the last failed GPU job of each repository."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from ops.doctor.finding import broken, doubtful, works
from ops.doctor.log.messages import found_in
from ops.doctor.questions.gpu_jobs import log_of, recent
from ops.doctor.questions.repositories import repositories

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from gpu_ci.stack_file.sections.settings import Settings
    from ops.doctor.log.messages import Found
    from ops.doctor.world.world import World

CHECK: Final = "job-log"
NEEDS: Final = ()
RECENT: Final = timedelta(days=2)


def applies(settings: Settings) -> bool:
    """Return whether the stack runs jobs."""
    return bool(settings.runners)


def check(world: World) -> Iterator[Verdict]:
    """Yield a fault for each known message, with its meaning and its fix."""
    given = world.log.ask("read")
    if given is not None:
        yield from _verdicts(str(given["name"]), str(given["text"]), broken)
        return
    for repository in repositories(world):
        job = next(recent(world, repository, "failure", RECENT), None)
        if job is None:
            yield works(CHECK, repository, f"no GPU job failed in the last {RECENT.days} days")
            continue
        yield from _verdicts(
            f"{repository}: {job['name']} ({job['html_url']})", log_of(world, repository, job), doubtful
        )


def _verdicts(name: str, log: str, make: Callable[..., Verdict]) -> Iterator[Verdict]:
    """Yield a verdict for each message. One in a log of the past is only a warning: it may be fixed by now."""
    found = found_in(log)
    for one in found:
        yield _verdict(name, one, make)
    if not found:
        yield doubtful(
            CHECK,
            name,
            seen="the log has none of the messages that gpu-ci knows",
            means="the failure is probably one of the job itself",
            fix="read the log from its first error",
        )


def _verdict(name: str, one: Found, make: Callable[..., Verdict]) -> Verdict:
    times = f", {one.times} times" if one.times > 1 else ""
    return make(
        CHECK,
        name,
        seen=f'line {one.number}{times}: "{one.line}"',
        means=one.message.meaning,
        fix=f"{one.message.fix} (docs/runbook.md#{one.message.name})",
    )
