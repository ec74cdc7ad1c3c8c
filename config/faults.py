"""What is wrong in a stack file: one line a fault, each with its path and with what would be right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One thing that a stack file may not say."""

    path: str
    """Where it stands, as in `gpu-pools.t4-spot.min`."""
    wrong: str
    """What is wrong with it."""
    right: str
    """What would be right."""

    def __post_init__(self) -> None:
        """Show what the stack file holds as one printable line, and as nothing that acts on a terminal."""
        for name in ("path", "wrong", "right"):
            text: str = getattr(self, name)
            object.__setattr__(self, name, "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text))

    def __str__(self) -> str:
        """The fault as one line."""
        return f"{self.path}: {self.wrong}; {self.right}"


class StackFileError(pulumi.RunError):
    """Everything that is wrong with one stack file. Pulumi shows it as a message, without a traceback."""

    def __init__(self, faults: Iterable[Fault], source: str = "the stack file") -> None:
        self.faults = tuple(sorted(set(faults)))
        count = "1 fault" if len(self.faults) == 1 else f"{len(self.faults)} faults"
        super().__init__("\n".join([f"{count} in {source}:", *(f"  {fault}" for fault in self.faults)]))
