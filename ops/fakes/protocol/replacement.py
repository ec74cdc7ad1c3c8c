"""The changes of inputs that replace a resource.

`replacement.json` has the rows of the bridged providers, which `make replacement-table` writes from their schemas. The
rows of `replacement_rules.json` are written by hand: they state what no schema contains, and win. A name such as
`aws:*` is for every type of a package.

A row classifies input paths, without list positions:

- `replace`: every change replaces the resource;
- `conditional`: only these kinds of change do. `shrink` is a new range that does not contain the old one;
- `update`: every change is made in place.

The longest path of the row that contains a changed path decides. Without one, the change is made in place.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

ADD: Final = "add"
DELETE: Final = "delete"
UPDATE: Final = "update"
SHRINK: Final = "shrink"
TABLE: Final = Path(__file__).with_name("replacement.json")
_RULES: Final = Path(__file__).with_name("replacement_rules.json")
_EVERY: Final = frozenset({ADD, DELETE, UPDATE})


@cache
def rows() -> Mapping[str, Mapping[str, Any]]:
    """Return the generated rows by type."""
    return {type_: row for block in _read(TABLE).values() for type_, row in block["types"].items()}


@cache
def rules() -> Mapping[str, Mapping[str, Any]]:
    """Return the rows written by hand, by type or by `package:*`."""
    found: dict[str, dict[str, Any]] = _read(_RULES)
    return found


def replaces(type_: str, path: tuple[str, ...], kind: str, old: object = None, new: object = None) -> bool:
    """Return whether a change of one input replaces the resource.

    Args:
        type_: the type token.
        path: the parts of the path without list positions.
        kind: `ADD`, `DELETE` or `UPDATE`.
        old: the value before, for rules that depend on it.
        new: the value afterwards.

    """
    decided = _decided(type_)
    length = next((length for length in range(len(path), 0, -1) if path[:length] in decided), 0)
    kinds = decided.get(path[:length], frozenset())
    if length < len(path):
        # A change inside a block changes the block.
        kind = UPDATE
    return kind in kinds or (kind == UPDATE and SHRINK in kinds and not _contains(new, old))


@cache
def _decided(type_: str) -> Mapping[tuple[str, ...], frozenset[str]]:
    """Return the kinds of change that replace, by path."""
    found: dict[tuple[str, ...], frozenset[str]] = {}
    for row in (rows().get(type_, {}), rules().get(f"{type_.partition(':')[0]}:*", {}), rules().get(type_, {})):
        found |= {tuple(path.split(".")): frozenset[str]() for path in row.get("update", ())}
        found |= {tuple(path.split(".")): _EVERY for path in row.get("replace", ())}
        found |= {tuple(path.split(".")): frozenset(kinds) for path, kinds in row.get("conditional", {}).items()}
    return found


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _contains(new: object, old: object) -> bool:
    """Return whether the range `new` contains the range `old`; an unknown value may not."""
    try:
        wide, narrow = ipaddress.ip_network(str(new)), ipaddress.ip_network(str(old))
    except ValueError:
        return False
    return wide.version == narrow.version and narrow.subnet_of(wide)  # type: ignore[arg-type]
