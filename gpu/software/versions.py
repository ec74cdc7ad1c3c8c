"""Version numbers of a table: which known one is nearest to one that is not known.

`gpu.nearest` compares names by their letters; among versions, 13.4 is nearer to 14.0 than 11.0 is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu.nearest import UnknownName

if TYPE_CHECKING:
    from collections.abc import Iterable

Version = tuple[int, ...]


def parse(text: str) -> Version:
    """The numbers of a dotted version."""
    return tuple(map(int, text.split(".")))


def dotted(version: Version) -> str:
    """A version as it is written."""
    return ".".join(map(str, version))


def nearest_version(wanted: Version, known: Iterable[Version]) -> Version:
    """The known version closest to the wanted one, the leading numbers counting first; the older one of two."""
    candidates = sorted(known)
    if not candidates[0] < wanted < candidates[-1]:
        return candidates[0] if wanted < candidates[0] else candidates[-1]
    return min(candidates, key=lambda one: (*(abs(a - b) for a, b in zip(one, wanted, strict=False)), one))


class UnknownVersion(UnknownName):
    """A version that a table does not hold; there is always a nearest one."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        """Say which kind of thing `name` was to be a version of, and the nearest of the `known` ones."""
        versions = {parse(one): one for one in known}
        super().__init__(kind, name, versions.values())
        self.nearest = versions[nearest_version(parse(name), versions)]
        self.args = (f"{name} is not a known {kind}; the nearest known one is {self.nearest}",)
