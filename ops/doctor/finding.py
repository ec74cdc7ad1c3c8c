"""Verdicts of the doctor: the observation is the reason, and its meaning is the last step of the chain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_ci.knowledge import verdict

if TYPE_CHECKING:
    from gpu_ci.knowledge.verdict import Verdict


def broken(check: str, subject: str, *, seen: str, means: str, fix: str) -> Verdict:
    """Return a verdict on a link that does not work."""
    return verdict.error(check, subject, seen, fix, (means,))


def doubtful(check: str, subject: str, *, seen: str, means: str, fix: str) -> Verdict:
    """Return a verdict on a link that works, or may work, and surprises."""
    return verdict.warning(check, subject, seen, fix, (means,))


def works(check: str, subject: str, seen: str) -> Verdict:
    """Return a verdict on a link that works."""
    return verdict.ok(check, subject, seen)


def page(check: str) -> str:
    """Return the entry of a check in the documentation."""
    return f"docs/runbook.md#{check}"
