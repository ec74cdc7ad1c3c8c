"""The values at a path in the inputs or outputs of an object, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

UNKNOWN: Final = "[unknown]"
"""The placeholder in plain data for a value that is unknown in a preview."""


def values_at(path: str, data: Any) -> Iterator[tuple[str, Any]]:
    """Yield every value at `path` with its exact path; skip missing, null and unknown values."""
    yield from _walk(path.split("."), data, "")


def _walk(parts: Sequence[str], data: Any, walked: str) -> Iterator[tuple[str, Any]]:
    if not parts:
        if data is not None and data != UNKNOWN:
            yield walked, data
        return
    head, rest = parts[0], parts[1:]
    if head == "*" and isinstance(data, list):
        for index, item in enumerate(data):
            yield from _walk(rest, item, f"{walked}[{index}]")
    elif head.isdigit() and isinstance(data, list) and int(head) < len(data):
        yield from _walk(rest, data[int(head)], f"{walked}[{head}]")
    elif isinstance(data, Mapping) and head in data:
        yield from _walk(rest, data[head], f"{walked}.{head}" if walked else head)


def value_at(path: str, data: Any) -> Any:
    """Return the first value at `path`, or None."""
    return next((value for _, value in values_at(path, data)), None)
