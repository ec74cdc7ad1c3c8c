"""Tables of tests in YAML files. `!remove` is `OUT`; `!join [a, [b, 100]]` is one text: a, then 100 times b."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml

OUT: Final = object()
"""Marks a key that a change removes."""


class _Loader(yaml.CSafeLoader):
    """A reader of tables. A key that occurs twice is an error, because its first value would have no effect."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return a map."""
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        if len(found) != len(node.value):
            raise ValueError(f"a key occurs twice in the map at{node.start_mark}; remove one of the two")
        return found


def _join(loader: _Loader, node: yaml.SequenceNode) -> str:
    """Return one text of its parts, so that a file has no long texts and no texts in the form of a credential."""
    parts = loader.construct_sequence(node, deep=True)
    return "".join(part if isinstance(part, str) else part[0] * part[1] for part in parts)


_Loader.add_constructor("!remove", lambda _loader, _node: OUT)
_Loader.add_constructor("!join", _join)


def load(path: Path) -> Any:
    """Return the table in a file."""
    with path.open(encoding="utf-8") as file:
        return yaml.load(file, Loader=_Loader)  # noqa: S506 - a safe loader with two tags
