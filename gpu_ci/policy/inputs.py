"""Access to the inputs of a resource, which can be missing, unknown, or JSON text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

Inputs: TypeAlias = Mapping[str, Any]
"""The inputs of a resource, with their names in the engine protocol."""


def part(inputs: Inputs, *path: str) -> Any:
    """Return the value at `path`, or None."""
    value: Any = inputs
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def each(inputs: Inputs, *path: str) -> list[Inputs]:
    """Return the maps in the list at `path`; a single map counts as a list of one."""
    value = part(inputs, *path)
    items = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return [item for item in items if isinstance(item, Mapping)]


def texts(inputs: Inputs, *path: str) -> list[str]:
    """Return the strings in the list at `path`; a single string counts as a list of one."""
    value = part(inputs, *path)
    items = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return [item for item in items if isinstance(item, str)]


def is_true(value: Any) -> bool:
    """Return True if a flag is set; some providers write flags as text."""
    return value is True or value == "true"


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value that is neither a map nor a list, with its dotted path."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}.{index}")
    else:
        yield path, value


def document(value: Any) -> Inputs:
    """Parse a JSON document; return an empty map for an unknown value and for other text."""
    if not isinstance(value, str):
        return value if isinstance(value, Mapping) else {}
    try:
        decoded = json.loads(value)
    except ValueError:
        return {}
    return decoded if isinstance(decoded, Mapping) else {}


def maps(value: Any, path: str) -> Iterator[tuple[str, Inputs]]:
    """Yield every map in a value, with its path and a dot. A JSON document in a text counts, too."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        try:
            value = json.loads(value)
        except ValueError:
            return
    if isinstance(value, Mapping):
        yield path, value
        for key, inside in value.items():
            yield from maps(inside, f"{path}{key}.")
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for index, inside in enumerate(value):
            yield from maps(inside, f"{path}{index}.")
