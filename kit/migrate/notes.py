"""Notes about the migration of a cirun file: changes, comments that are lost, and faults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import yaml

from config.faults import Fault
from gpu.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

DROPPED: Final = {
    "workflow": "dropped: cirun has not read it since July 2022; every workflow that requests the label is served",
    "count": "dropped: since February 2022 cirun starts one runner for each job",
    "run_only_when_trigger_by": "dropped: cirun does not read it; grant access in .access.yml",
    "env": "dropped: cirun has no such key; values for the job belong in the workflow's env",
    "username": "dropped: cirun has no such key; the image decides who runs the job",
    "local_ssd_count": "dropped: cirun attaches no local SSD",
    "setup": "dropped: cirun does not run setup steps; put them into the image or the first steps of the workflow",
}
"""Keys of a runner without a replacement."""


@dataclass(frozen=True, slots=True, order=True)
class Note:
    """One change."""

    path: str
    """The place in the old file."""
    change: str
    """The change, and what remains to be done by hand."""


class Notes:
    """The notes and faults of one migration."""

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self.faults: list[Fault] = []

    def note(self, path: str, change: str) -> None:
        """Add a note."""
        self.notes.append(Note(path, change))

    def fault(self, path: str, wrong: str, right: str) -> None:
        """Add a fault."""
        self.faults.append(Fault(path, wrong, right))

    def dropped(self, path: str, entry: dict[str, Any]) -> None:
        """Add a note for every key without a replacement."""
        for key in entry:
            if key in DROPPED:
                self.note(f"{path}.{key}", DROPPED[key])

    def moved(self, path: str, value: Any, to: str) -> Any:
        """Return `value`, and note its new key."""
        if value is not None:
            self.note(path, f"moved to {to}")
        return value

    def part(self, parent: dict[str, Any], key: str, path: str, known: tuple[str, ...]) -> dict[str, Any]:
        """Return a map inside a map with known keys; empty if it is missing."""
        value = parent.get(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.fault(f"{path}.{key}", "not a map", f"its keys are {', '.join(known)}")
            return {}
        self.known(f"{path}.{key}", value, known)
        return value

    def known(self, path: str, entry: dict[str, Any], names: tuple[str, ...]) -> None:
        """Add a fault for every key that the old format did not have."""
        dot = f"{path}." if path else ""
        for key in entry:
            if key not in names:
                self.fault(f"{dot}{key}", "unknown key", did_you_mean(str(key), names))

    def text(self, path: str, value: Any) -> str | None:
        """Return a text, or None if it is missing."""
        if value is None or isinstance(value, str):
            return value
        self.fault(path, "not a text", "write one name; a bare number needs quotes")
        return None

    def texts(self, path: str, value: Any) -> list[str]:
        """Return a list of texts; a single text becomes a list."""
        stated = value if isinstance(value, list) else [] if value is None else [value]
        read = [self.text(f"{path}[{at}]" if isinstance(value, list) else path, one) for at, one in enumerate(stated)]
        return [one for one in read if one is not None]


def lost(text: str) -> list[Note]:
    """Return a note for every comment in `text`, which is valid YAML. A `#` outside every token starts a comment."""
    return [
        Note(f"line {line}", f"comment removed: {comment}; add it again if it still applies")
        for line, comment in _comments(text)
    ]


def _comments(text: str) -> Iterator[tuple[int, str]]:
    scalars = [token for token in yaml.scan(text, Loader=yaml.SafeLoader) if isinstance(token, yaml.ScalarToken)]
    covered = {at for token in scalars for at in range(token.start_mark.index, token.end_mark.index)}
    begin = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        found = next(
            (
                at
                for at, sign in enumerate(line)
                if sign == "#" and begin + at not in covered and (at == 0 or line[at - 1].isspace())
            ),
            None,
        )
        if found is not None:
            yield number, line[found:].strip()
        begin += len(line)
