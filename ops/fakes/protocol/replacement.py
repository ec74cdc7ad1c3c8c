"""The changes of inputs that replace a resource, for every type that the program declares.

`replacement.json` is the table, with the source of each row. A row classifies input paths, without list positions:

- `replace`: every change replaces the resource;
- `conditional`: only these kinds of change do. `shrink` is a new range that does not contain the old one;
- `update`: every change is made in place;
- `unknown`: no source states it; such a change counts as one in place.

The longest path of the row that contains a changed path decides. A path that the row does not contain changes in place.
"""

from __future__ import annotations

import ipaddress
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

ADD: Final = "add"
DELETE: Final = "delete"
UPDATE: Final = "update"
SHRINK: Final = "shrink"
_EVERY: Final = frozenset({ADD, DELETE, UPDATE})
_KUBERNETES: Final = frozenset({"metadata.name", "metadata.namespace"})
"""The paths that replace any object of Kubernetes."""


@cache
def table() -> Mapping[str, Mapping[str, Any]]:
    """Return the rows by type."""
    text = Path(__file__).with_name("replacement.json").read_text(encoding="utf-8")
    rows: dict[str, dict[str, Any]] = json.loads(text)
    return rows


def replaces(type_: str, path: tuple[str, ...], kind: str, old: object = None, new: object = None) -> bool:
    """Return whether a change of one input replaces the resource.

    Args:
        type_: the type token.
        path: the parts of the path without list positions.
        kind: `ADD`, `DELETE` or `UPDATE`.
        old: the value before, for rules that depend on it.
        new: the value afterwards.

    """
    rules = _rules(type_)
    length = next((length for length in range(len(path), 0, -1) if path[:length] in rules), 0)
    kinds = rules.get(path[:length], frozenset())
    if length < len(path):
        # A change inside a block changes the block.
        kind = UPDATE
    return kind in kinds or (kind == UPDATE and SHRINK in kinds and not _contains(new, old))


def paths(type_: str) -> frozenset[str]:
    """Return the paths that can replace a resource of a type."""
    return frozenset(".".join(path) for path, kinds in _rules(type_).items() if kinds)


@cache
def _rules(type_: str) -> Mapping[tuple[str, ...], frozenset[str]]:
    """Return the kinds of change that replace, by path."""
    row = table().get(type_, {"replace": _KUBERNETES if type_.startswith("kubernetes:") else ()})
    found = {tuple(path.split(".")): frozenset[str]() for path in (*row.get("update", ()), *row.get("unknown", ()))}
    found |= {tuple(path.split(".")): _EVERY for path in row.get("replace", ())}
    found |= {tuple(path.split(".")): frozenset(kinds) for path, kinds in row.get("conditional", {}).items()}
    return found


def _contains(new: object, old: object) -> bool:
    """Return whether the range `new` contains the range `old`; an unknown value may not."""
    try:
        wide, narrow = ipaddress.ip_network(str(new)), ipaddress.ip_network(str(old))
    except ValueError:
        return False
    return wide.version == narrow.version and narrow.subnet_of(wide)  # type: ignore[arg-type]
