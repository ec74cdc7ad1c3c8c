"""The name that was probably meant, where a name is not known.

Owns the comparison and the one error for an unknown name; which names there are belongs to each table.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name closest to `name`, or nothing where none is close.

    Names are sorted first, so that the answer does not depend on the order of a table.
    """
    folded = {candidate.lower(): candidate for candidate in sorted(known, reverse=True)}
    found = get_close_matches(name.lower(), sorted(folded), n=1, cutoff=0.6)
    return folded[found[0]] if found else None


class UnknownName(LookupError):
    """A name that a table does not hold."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        """Say which kind of thing `name` was to be, and the nearest of the `known` ones."""
        self.kind = kind
        self.name = name
        self.known = tuple(sorted(known))
        self.nearest = nearest(name, self.known)
        hint = f"did you mean {self.nearest}?" if self.nearest else f"known are {', '.join(self.known)}"
        super().__init__(f"{name} is not a known {kind}; {hint}")
