"""The result of a check for one part of the stack: the observation, its meaning and its fix."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from gpu_ci.knowledge.verdict import Level


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of a check for one part of the stack."""

    level: Level
    subject: str
    """The path in the stack file, or the name of the object."""
    seen: str
    """The observation."""
    means: str = ""
    """Its meaning; empty where the level is ok."""
    fix: str = ""
    """The fix; empty where the level is ok."""

    def data(self) -> dict[str, str]:
        """Return the finding as JSON."""
        return asdict(self)


def broken(subject: str, *, seen: str, means: str, fix: str) -> Finding:
    """Return a finding on a link that does not work."""
    return Finding(level=Level.ERROR, subject=subject, seen=seen, means=means, fix=fix)


def doubtful(subject: str, *, seen: str, means: str, fix: str) -> Finding:
    """Return a finding on a link that works, or may work, and surprises."""
    return Finding(level=Level.WARNING, subject=subject, seen=seen, means=means, fix=fix)


def works(subject: str, seen: str) -> Finding:
    """Return a finding on a link that works."""
    return Finding(level=Level.OK, subject=subject, seen=seen)
