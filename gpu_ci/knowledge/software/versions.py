"""Version numbers, and the known version that is nearest to an unknown one.

`gpu_ci.knowledge.nearest` compares the letters of names. For versions the numbers count: 13.4 is nearer to 14.0 than
11.0.
"""

from __future__ import annotations

from collections.abc import Iterable

from gpu_ci.knowledge.nearest import UnknownName

Version = tuple[int, ...]


def parse(text: str) -> Version:
    """Return the numbers of a dotted version."""
    return tuple(map(int, text.split(".")))


def dotted(version: Version) -> str:
    """Return the text of a version."""
    return ".".join(map(str, version))


def nearest_version(wanted: Version, known: Iterable[Version]) -> Version:
    """Return the known version closest to the wanted one. Leading numbers count first; of two, the older one."""
    candidates = sorted(known)
    if not candidates[0] < wanted < candidates[-1]:
        return candidates[0] if wanted < candidates[0] else candidates[-1]
    return min(candidates, key=lambda one: (*(abs(a - b) for a, b in zip(one, wanted, strict=False)), one))


class UnknownVersion(UnknownName):
    """A version that a table does not have. There is always a nearest one."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        """Describe the unknown version of a `kind`, with the nearest of the `known` ones."""
        versions = {parse(one): one for one in known}
        super().__init__(kind, name, versions.values())
        self.nearest = versions[nearest_version(parse(name), versions)]
        self.args = (f"{name} is not a known {kind}; {self.fix}",)
