"""The difference of two property bags, path by path, as the provider protocol reports it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ops.fakes.cloud.kinds import Kind
from ops.fakes.protocol.replacement import replaces


class ChangeKind(StrEnum):
    """The change of a property."""

    ADD = "add"
    DELETE = "delete"
    UPDATE = "update"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One property that changed."""

    path: str
    """As Pulumi writes paths: `taints[0].effect`, `tags["a.b"]`."""
    names: tuple[str, ...]
    """The parts of the path without list positions."""
    kind: ChangeKind
    replaces: bool
    """Whether the change replaces the object."""


def changes(kind: Kind, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """Return every property that differs; an unknown value differs from any known one."""
    return [
        Change(path=path, names=names, kind=change, replaces=replaces(kind.type, names, change, before, after))
        for path, names, change, before, after in _walk(dict(old), dict(new), "", ())
    ]


def deletes_first(kind: Kind, found: list[Change], inputs: Mapping[str, Any]) -> bool:
    """Return whether a replacement deletes first: the name is stated and does not change."""
    if not kind.delete_first or not any(change.replaces for change in found):
        return False
    names = tuple(kind.delete_first.split("."))
    value: Any = inputs
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value is not None and not any(change.names == names for change in found)


def _walk(
    old: Any, new: Any, path: str, names: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...], ChangeKind, Any, Any]]:
    """Yield every changed path, its parts without list positions, and its values before and afterwards."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}):
            inner = _join(path, key)
            if key not in new:
                yield inner, (*names, key), ChangeKind.DELETE, old[key], None
            elif key not in old:
                yield inner, (*names, key), ChangeKind.ADD, None, new[key]
            else:
                yield from _walk(old[key], new[key], inner, (*names, key))
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            inner = f"{path}[{index}]"
            if index >= len(new):
                yield inner, names, ChangeKind.DELETE, old[index], None
            elif index >= len(old):
                yield inner, names, ChangeKind.ADD, None, new[index]
            else:
                yield from _walk(old[index], new[index], inner, names)
    elif old != new or isinstance(old, bool) != isinstance(new, bool):
        yield path, names, ChangeKind.UPDATE, old, new


def _join(path: str, key: str) -> str:
    if key.replace("_", "").replace("-", "").isalnum():
        return f"{path}.{key}" if path else key
    quoted = key.replace('"', '\\"')
    return f'{path}["{quoted}"]'
