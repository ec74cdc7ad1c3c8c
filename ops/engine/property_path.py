"""Property paths as the engine writes them: `taints[0].effect`, `tags["a.b"]`."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Final

_PART: Final = re.compile(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.\[\]]+)')


def parts(path: str) -> tuple[str | int, ...]:
    """Return the names and the list positions of a path."""
    return tuple(
        int(position) if position else quoted.replace('\\"', '"') or plain
        for quoted, position, plain in _PART.findall(path)
    )


def value_at(path: str, inputs: Any, *, marks: Collection[object] = (), missing: object = None) -> object:
    """Return the value at a path.

    Args:
        path: the path.
        inputs: the properties. Text that contains JSON is not opened.
        marks: texts in place of a whole value, for example of a secret. If the path leads into one, it is returned.
        missing: returned if there is no value.

    """
    value = inputs
    for part in parts(path):
        inside = _children(value)
        if part not in inside:
            return value if isinstance(value, str) and value in marks else missing
        value = inside[part]
    return value


def _children(value: Any) -> dict[Any, Any]:
    """Return the properties of an object by name, and the elements of a list by position."""
    if isinstance(value, list):
        return dict(enumerate(value))
    return value if isinstance(value, dict) else {}
