"""What is said while an old cirun file is rewritten: each thing that changed, and each that nobody can make sense of.

Owns the two lists, and the reading of values that an old file may hold in any shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from config.faults import Fault
from gpu.nearest import did_you_mean

DROPPED: Final = {
    "workflow": "dropped: cirun has not read it since July 2022; every workflow that asks for the label is served",
    "count": "dropped: since February 2022 cirun starts one runner for each job",
    "run_only_when_trigger_by": "dropped: cirun does not read it; who may start a runner stands in .access.yml",
    "env": "dropped: cirun has no such key; values for the job belong in the workflow's env",
    "username": "dropped: cirun has no such key; the image decides who runs the job",
    "local_ssd_count": "dropped: cirun attaches no local SSD",
    "setup": "dropped: cirun runs no steps of yours; put them into the image, or into the workflow's first steps",
}
"""Keys of a runner that have no successor."""


@dataclass(frozen=True, slots=True, order=True)
class Note:
    """One thing that changed."""

    path: str
    """Where it stood in the old file."""
    change: str
    """What became of it, and what is left to do by hand."""


class Notes:
    """Notes and faults, gathered."""

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self.faults: list[Fault] = []

    def note(self, path: str, change: str) -> None:
        """Say what became of something."""
        self.notes.append(Note(path, change))

    def fault(self, path: str, wrong: str, right: str) -> None:
        """Say what cannot be rewritten."""
        self.faults.append(Fault(path, wrong, right))

    def dropped(self, path: str, entry: dict[str, Any]) -> None:
        """A note for every key that has no successor."""
        for key in entry:
            if key in DROPPED:
                self.note(f"{path}.{key}", DROPPED[key])

    def moved(self, path: str, value: Any, to: str) -> Any:
        """`value`, with a note of where it went."""
        if value is not None:
            self.note(path, f"moved to {to}")
        return value

    def part(self, parent: dict[str, Any], key: str, path: str, known: tuple[str, ...]) -> dict[str, Any]:
        """A map inside a map, its keys checked; an empty one where there is none."""
        value = parent.get(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.fault(f"{path}.{key}", "this is no map", f"its keys are {', '.join(known)}")
            return {}
        self.known(f"{path}.{key}", value, known)
        return value

    def known(self, path: str, entry: dict[str, Any], names: tuple[str, ...]) -> None:
        """A fault for every key that the old form did not have."""
        dot = f"{path}." if path else ""
        for key in entry:
            if key not in names:
                self.fault(f"{dot}{key}", "unknown key", did_you_mean(str(key), names))

    def text(self, path: str, value: Any) -> str | None:
        """One text, or none where nothing is stated."""
        if value is None or isinstance(value, str):
            return value
        self.fault(path, "this is no text", "write one name; a bare number needs quotes")
        return None

    def texts(self, path: str, value: Any) -> list[str]:
        """A list of texts; one that stands alone is one of them."""
        stated = value if isinstance(value, list) else [] if value is None else [value]
        read = [self.text(f"{path}[{at}]" if isinstance(value, list) else path, one) for at, one in enumerate(stated)]
        return [one for one in read if one is not None]
