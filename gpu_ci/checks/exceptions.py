"""Check the exceptions of the stack file: their names, their ends, and that each allows a finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

from gpu_ci.back_ends.stack import Stack
from gpu_ci.knowledge.nearest import did_you_mean, nearest
from gpu_ci.knowledge.verdict import Level, Verdict, error, warning
from gpu_ci.policy import exceptions
from gpu_ci.policy.exceptions import ALLOWING, LONGEST, State, Stated, state
from gpu_ci.policy.rules import NAMES as RULES

CHECK: Final = "exceptions"


def check(stack: Stack) -> Iterator[Verdict]:
    """Report exceptions that are over, that end soon, and that end too late."""
    on = exceptions.today()
    for name, one in stack.settings.exceptions.items():
        path, finding = f"exceptions.{name}.until", f"{one.check} of {one.subject}"
        left = (one.until - on).days
        match state(one.until, on):
            case State.EXPIRED:
                reason = f"it ended on {one.until}, so {finding} is not allowed any more"
                yield error(CHECK, path, reason, "fix the finding and remove the exception, or state a later day")
            case State.TOO_LONG:
                reason = f"{one.until} is more than a year ahead, so {finding} is not allowed"
                yield error(CHECK, path, reason, f"state {on + LONGEST} or an earlier day")
            case State.SOON:
                days = "today" if not left else f"in {left} day{'' if left == 1 else 's'}"
                reason = f"it ends {days}, on {one.until}; after that day, {finding} is reported again"
                yield warning(CHECK, path, reason, "fix the finding and remove the exception, or state a later day")
            case State.VALID:
                pass


def applied(stack: Stack, found: Iterable[Verdict], checks: AbstractSet[str]) -> list[Verdict]:
    """Return the verdicts of all checks with the allowed ones marked, and those about exceptions that allow nothing.

    Args:
        stack: the stack with its exceptions.
        found: the verdicts of all checks.
        checks: the names of all checks.

    """
    stated, on = stack.settings.exceptions, exceptions.today()
    verdicts = list(found)
    reported = {(one.check, one.subject) for one in verdicts if one.level is not Level.OK}
    known = (checks | RULES) - {CHECK}
    unknown = [
        error(
            CHECK,
            f"exceptions.{name}.check",
            f'"{one.check}" is not a check or a policy rule that can have an exception',
            did_you_mean(one.check, known),
        )
        for name, one in stated.items()
        if one.check not in known
    ]
    return [
        *(
            replace(one, level=Level.ALLOWED)
            if one.level is not Level.OK and exceptions.allowing(stated, one.check, one.subject, on)
            else one
            for one in verdicts
        ),
        *unknown,
        *unused(stated, reported, checks - {CHECK}),
    ]


def unused(
    stated: Mapping[str, Stated], reported: AbstractSet[tuple[str, str]], evaluated: AbstractSet[str]
) -> Iterator[Verdict]:
    """Report valid exceptions that allow nothing.

    Args:
        stated: the exceptions of the stack file.
        reported: the check or the rule, and the subject, of every finding.
        evaluated: the names of the checks or rules that have run.

    """
    on = exceptions.today()
    for name, one in stated.items():
        if one.check in evaluated and (one.check, one.subject) not in reported and state(one.until, on) in ALLOWING:
            close = nearest(one.subject, [subject for check_, subject in reported if check_ == one.check])
            fix = f'remove it, or correct the subject: did you mean "{close}"?' if close else "remove it"
            yield warning(CHECK, f"exceptions.{name}", f"{one.check} reports nothing at {one.subject}", fix)
