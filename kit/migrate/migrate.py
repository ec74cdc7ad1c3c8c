"""Update an old cirun file to the current format, with a note for every change.

An old file is a list of runners with the keys `workflow` and `count` (cirun until 2022), or a map of runners by name,
which cirun never supported but public instructions show. A file in the current format is not changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from config.faults import Fault
from kit.cirun import FILE, REMOVED, CirunFile, render
from kit.closed import FileError, load_yaml, validated
from kit.migrate.forms import rewritten
from kit.migrate.notes import Notes, lost

if TYPE_CHECKING:
    from kit.migrate.notes import Note


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """A file in the current format, and the changes."""

    file: CirunFile
    text: str
    """The text of the new file."""
    notes: tuple[Note, ...]
    """Every change; empty if the file was in the current format."""


def migrate(text: str, source: str = FILE) -> Migration:
    """Update the file in `text`.

    Raises:
        FileError: it has none of the formats, or unknown keys; names every fault.

    """
    document = load_yaml(text, source)
    if not isinstance(document, dict) or not document:
        raise FileError(source, [Fault("", "not a cirun file", "write a list of runners below `runners:`")])
    notes = Notes()
    entries = _entries(document, notes)
    if notes.faults:
        raise FileError(source, notes.faults)
    file = validated(CirunFile, {"runners": entries}, source, REMOVED)
    if not notes.notes:
        return Migration(file=file, text=text, notes=())
    return Migration(file=file, text=render(file), notes=(*notes.notes, *lost(text)))


def _entries(document: dict[str, Any], notes: Notes) -> list[Any]:
    """Return the runners of either format."""
    runners = document.get("runners", document)
    if isinstance(runners, list):
        notes.known("", document, ("runners",))
        return [
            rewritten(each, f"runners[{position}]", notes) if isinstance(each, dict) else each
            for position, each in enumerate(runners)
        ]
    if not isinstance(runners, dict):
        notes.fault("runners", "not a list of runners", "write a runner as `- name: …`, and the rest below it")
        return []
    root = "runners." if "runners" in document else ""
    if root:
        notes.known("", document, ("runners",))
    notes.note(root.rstrip(".") or "file", "a map of runners became a list below `runners`, each with its name")
    found: list[Any] = []
    for name, entry in runners.items():
        if isinstance(entry, dict):
            found.append(rewritten({"name": str(name), **entry}, f"{root}{name}", notes))
        else:
            notes.fault(f"{root}{name}", "not a runner", "write a map: key: value")
    return found
