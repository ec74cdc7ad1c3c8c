"""The result of a check: the subject, the level, the reason and the fix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """The level of a verdict."""

    OK = "ok"
    """The check passed."""
    WARNING = "warning"
    """It works, but may surprise. Logged on the component it concerns; stops nothing."""
    ALLOWED = "allowed"
    """An error or a warning that an exception of the stack file allows; stops nothing."""
    ERROR = "error"
    """It cannot work. Stops `pulumi up` before the first resource; `make plan` exits with 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The result of one check for one part of the stack file."""

    check: str
    """The check's name in kebab case ("scale-from-zero"); also the name of its page in the documentation."""
    level: Level
    subject: str
    """The path in the stack file, for example `runners.gpu-t4.needs.memory`."""
    reason: str
    """One sentence with the figures that decided."""
    fix: str = ""
    """What to change; empty where the level is ok."""
    chain: tuple[str, ...] = ()
    """The steps from facts to the conclusion, in order."""

    @property
    def chapter(self) -> str:
        """The check's page, relative to the root of the documentation."""
        return f"explanation/checks/{self.check}.md"

    def __str__(self) -> str:
        """Return the verdict as one line, for logs."""
        tail = f" → {self.fix}" if self.fix else ""
        return f"{self.level}: {self.subject}: {self.reason}{tail} ({self.check}: docs/{self.chapter})"


def error(check: str, subject: str, reason: str, fix: str, chain: Iterable[str] = ()) -> Verdict:
    """Return a verdict that stops the stack."""
    return Verdict(check=check, level=Level.ERROR, subject=subject, reason=reason, fix=fix, chain=tuple(chain))


def warning(check: str, subject: str, reason: str, fix: str, chain: Iterable[str] = ()) -> Verdict:
    """Return a verdict that is only logged."""
    return Verdict(check=check, level=Level.WARNING, subject=subject, reason=reason, fix=fix, chain=tuple(chain))


def ok(check: str, subject: str, reason: str, chain: Iterable[str] = ()) -> Verdict:
    """Return a verdict for a check that passed."""
    return Verdict(check=check, level=Level.OK, subject=subject, reason=reason, chain=tuple(chain))
