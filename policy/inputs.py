"""Ways through a resource's inputs, whose parts may be missing, unknown, or travel as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

Inputs: TypeAlias = Mapping[str, Any]
"""A resource's inputs under the names of the wire."""


def part(inputs: Inputs, *path: str) -> Any:
    """What stands at `path`, or None where the way ends before."""
    value: Any = inputs
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def each(inputs: Inputs, *path: str) -> list[Inputs]:
    """The maps in the list at `path`; none where there is no list."""
    value = part(inputs, *path)
    items = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return [item for item in items if isinstance(item, Mapping)]


def texts(inputs: Inputs, *path: str) -> list[str]:
    """The texts in the list at `path`, or the one text there."""
    value = part(inputs, *path)
    items = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return [item for item in items if isinstance(item, str)]


def is_true(value: Any) -> bool:
    """Whether a flag is set; some providers spell flags as text."""
    return value is True or value == "true"


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value that is neither a map nor a list, with its dotted path."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}.{index}")
    else:
        yield path, value


def document(value: Any) -> Inputs:
    """A JSON document that travels as text; empty where it is none, or not known yet."""
    if not isinstance(value, str):
        return value if isinstance(value, Mapping) else {}
    try:
        decoded = json.loads(value)
    except ValueError:
        return {}
    return decoded if isinstance(decoded, Mapping) else {}
