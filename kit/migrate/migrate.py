"""Old cirun files made today's: each key that changed is named, and none is dropped without a word.

Owns the file as a whole, which was a map of runners or a list of them; what one runner was, `kit.migrate.forms`
says. Runners by name were never cirun's own but stand in public instructions; the list is cirun's of 2022 and before,
with `workflow` and `count`. Today's form is that of `kit.cirun`; a file that has it already comes back as it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from config.faults import Fault
from kit.cirun import FILE, REMOVED, CirunFile, render
from kit.closed import FileError, load_yaml, validated
from kit.migrate.comments import lost
from kit.migrate.forms import rewritten
from kit.migrate.notes import Notes

if TYPE_CHECKING:
    from kit.migrate.notes import Note


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """A file of today's form, and how it came about."""

    file: CirunFile
    """What it says."""
    text: str
    """The new file."""
    notes: tuple[Note, ...]
    """Every change; none where the file was of today's form already."""


def migrate(text: str, source: str = FILE) -> Migration:
    """Today's form of the file in `text`.

    Raises:
        FileError: it is of none of the forms, or holds keys that none of them knows; all are named.

    """
    document = load_yaml(text, source)
    if not isinstance(document, dict) or not document:
        raise FileError(source, [Fault("", "this is no cirun file", "write a list of runners below `runners:`")])
    notes = Notes()
    entries = _entries(document, notes)
    if notes.faults:
        raise FileError(source, notes.faults)
    file = validated(CirunFile, {"runners": entries}, source, REMOVED)
    if not notes.notes:
        return Migration(file=file, text=text, notes=())
    return Migration(file=file, text=render(file), notes=(*notes.notes, *lost(text)))


def _entries(document: dict[str, Any], notes: Notes) -> list[Any]:
    """The runners, wherever the old file keeps them."""
    runners = document.get("runners", document)
    if isinstance(runners, list):
        notes.known("", document, ("runners",))
        return [
            rewritten(each, f"runners[{position}]", notes) if isinstance(each, dict) else each
            for position, each in enumerate(runners)
        ]
    if not isinstance(runners, dict):
        notes.fault("runners", "this is no list of runners", "write a runner as `- name: …`, and the rest below it")
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
            notes.fault(f"{root}{name}", "this is no runner", "write a map: key: value")
    return found
