"""Update an old cirun file to the current format, with a note for every change and for every unknown key.

An old file is a list of runners with the keys `workflow` and `count` (cirun until 2022), or a map of runners by name,
which cirun never supported but public instructions show. A file in the current format is not changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import yaml

from gpu_ci.repository.cirun import FILE, render
from gpu_ci.repository.documents import FileError, load_yaml
from gpu_ci.stack_file.faults import Fault
from ops.kit.migrate.runner import Note, updated


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """A file in the current format, and the notes about it."""

    runners: tuple[dict[str, Any], ...]
    text: str
    """The text of the new file."""
    notes: tuple[Note, ...]

    @property
    def changed(self) -> bool:
        """Return False if the file was in the current format."""
        return any(note.changed for note in self.notes)


def migrate(text: str, source: str = FILE) -> Migration:
    """Update the file in `text`.

    Raises:
        FileError: it has none of the formats; names every fault.

    """
    document = load_yaml(text, source)
    if not isinstance(document, dict) or not document:
        raise FileError(source, [Fault("", "not a cirun file", "write a list of runners below `runners:`")])
    entries, notes = _entries(document)
    faults = [
        Fault(path, "not a runner", "write a map: key: value") for path, entry in entries if not isinstance(entry, dict)
    ]
    if not entries:
        faults = [Fault("runners", "not a list of runners", "write a runner as `- name: …`, and the rest below it")]
    if faults:
        raise FileError(source, faults)
    runners: list[dict[str, Any]] = []
    for path, entry in entries:
        values, more = updated(entry, path)
        runners.append(values)
        notes += more
    others = {key: value for key, value in document.items() if key != "runners"} if "runners" in document else {}
    notes += [Note(str(key), "kept: cirun only documents `runners`", changed=False) for key in others]
    migration = Migration(runners=tuple(runners), text=text, notes=tuple(notes))
    if not migration.changed:
        return migration
    return replace(migration, text=render({"runners": runners, **others}), notes=(*notes, *_comments(text)))


def _entries(document: dict[Any, Any]) -> tuple[list[tuple[str, Any]], list[Note]]:
    """Return the path and the content of each runner, of either format."""
    runners = document.get("runners", document)
    if isinstance(runners, list):
        return [(f"runners[{position}]", entry) for position, entry in enumerate(runners)], []
    if not isinstance(runners, dict):
        return [], []
    root = "runners." if "runners" in document else ""
    entries = [
        (f"{root}{name}", {"name": str(name), **entry} if isinstance(entry, dict) else entry)
        for name, entry in runners.items()
    ]
    text = "a map of runners became a list below `runners`, each with its name"
    return entries, [Note(root.rstrip(".") or "file", text)]


def _comments(text: str) -> Iterator[Note]:
    """Return a note for every comment in `text`, which is valid YAML. A `#` outside every token starts a comment."""
    scalars = [token for token in yaml.scan(text, Loader=yaml.CSafeLoader) if isinstance(token, yaml.ScalarToken)]
    covered = {at for token in scalars for at in range(token.start_mark.index, token.end_mark.index)}
    begin = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        for at, sign in enumerate(line):
            if sign == "#" and begin + at not in covered and (at == 0 or line[at - 1].isspace()):
                comment = line[at:].strip()
                yield Note(f"line {number}", f"comment removed: {comment}; add it again if it still applies")
                break
        begin += len(line)
