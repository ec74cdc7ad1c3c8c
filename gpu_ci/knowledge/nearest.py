"""Unknown names: the known name that was probably meant, and the error of a table that lacks a name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import zip_longest
from typing import Final

_VERSION = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6})+")
_LONGEST: Final = 100
"""The longest name that is compared; the time grows with the square of the length."""


def nearest(name: str, known: Iterable[str], *, cutoff: float | None = None) -> str | None:
    """Return the known name closest to `name`, or None where none is close.

    Case does not count, and an underscore counts as a hyphen. The order of `known` does not matter. `cutoff` is the
    smallest similarity (difflib's ratio); by default it depends on the length of the name. Of versions, the closest
    number is the nearest one, and the later of two that are equally close.
    """
    if _VERSION.fullmatch(name):
        return _nearest_version(name, [candidate for candidate in known if _VERSION.fullmatch(candidate)])
    if len(name) > _LONGEST:
        return None
    folded = {_folded(candidate): candidate for candidate in sorted(known, reverse=True)}
    # One wrong letter is half of a name such as t5.
    cutoff = cutoff or (0.6 if len(name) > 3 else 0.5)
    found = get_close_matches(_folded(name), sorted(folded), n=1, cutoff=cutoff)
    return folded[found[0]] if found else None


def _nearest_version(version: str, known: Iterable[str]) -> str | None:
    """Return the known version with the same first number and the smallest distance to `version`."""
    first, *numbers = _numbers(version)
    later = [(candidate, _numbers(candidate)) for candidate in known]
    distances = {
        candidate: tuple(abs(one - other) for one, other in zip_longest(numbers, rest, fillvalue=0))
        for candidate, (major, *rest) in sorted(later, key=lambda pair: pair[1], reverse=True)
        if major == first
    }
    return min(distances, key=lambda candidate: distances[candidate], default=None)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the fix for an unknown name: `did you mean "x"?`, or `known: a, b` where no name is close."""
    names = sorted(known)
    return suggestion(nearest(name, names), names)


def suggestion(close: str | None, known: Iterable[str]) -> str:
    """Return the fix for an unknown name whose nearest known name is `close`, or None."""
    if close is not None:
        return f'did you mean "{close}"?'
    names = ", ".join(known)
    return f"known: {names}" if names else "none is defined"


def _folded(name: str) -> str:
    return name.lower().replace("_", "-")


class UnknownName(LookupError):
    """A name that a table does not contain."""

    def __init__(self, kind: str, name: str, known: Iterable[str], fix: str = "") -> None:
        """Describe the unknown `name` of a `kind`; by default the fix is the nearest of the `known` names."""
        self.kind = kind
        self.name = name
        self.known = tuple(sorted(known))
        self.nearest = nearest(name, self.known)
        self._fix = fix
        super().__init__(f"{name} is not a known {kind}; {self.fix}")

    @property
    def fix(self) -> str:
        """The nearest known name as a question, or the list of the known names; or the stated fix."""
        return self._fix or suggestion(self.nearest, self.known)
