"""A fault of a file: the path, the problem, and the fix, on one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_LONGEST: Final = 1000
"""The number of characters above which a text is shortened."""


def one_line(text: str) -> str:
    """Escape control characters, so that a text is one line and cannot act on a terminal, and shorten a long text."""
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 4]}… ({len(text)} characters) …{text[-_LONGEST // 4 :]}"
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One statement that a file must not contain."""

    path: str
    """The place in the file, as in `gpu-pools.t4-spot.min`; empty for the whole file."""
    problem: str
    fix: str

    def __post_init__(self) -> None:
        """Make each text one line."""
        for name in ("path", "problem", "fix"):
            object.__setattr__(self, name, one_line(getattr(self, name)))

    def __str__(self) -> str:
        """Return the fault as one line."""
        return f"{self.path}: {self.problem}; {self.fix}" if self.path else f"{self.problem}; {self.fix}"


def summary(faults: tuple[Fault, ...], source: str) -> str:
    """Return all faults of one file, a line each, below a line that counts them."""
    count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
    return "\n".join([f"{count} in {source}:", *(f"  {fault}" for fault in faults)])


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence lists them: `a, b and c`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
